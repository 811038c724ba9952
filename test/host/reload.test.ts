import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { processes } from '../vscode/serve/processes.ts';
import { usePilothouse } from './support/pilothouse.ts';
import { SideClient } from './support/side-client.ts';
import { Tap } from './support/tap.ts';

/** Each number from 1 to `last`, once and in order, as a reply of `count slowly` shows them. */
function counted(text: string, last: number): boolean {
  const numbers = [...text.matchAll(/\b\d+\b/g)].map(([number]) => Number(number));
  const wanted = Array.from({ length: last }, (_, at) => at + 1);
  return numbers.join(' ').includes(wanted.join(' '));
}

describe('a window that is reloaded in the middle of a turn', () => {
  let tapFolder = '';
  let tap = new Tap('');
  const { pilothouse, file } = usePilothouse(async () => {
    tapFolder = await mkdtemp(join(tmpdir(), 'pilothouse-tap-'));
    tap = new Tap(tapFolder);
    return tap.options();
  });
  const { chat } = pilothouse;
  const window = () => pilothouse.window;
  let side: SideClient | null = null;

  afterEach(async () => {
    await side?.close();
    side = null;
    await pilothouse.calm();
  });
  afterAll(() => rm(tapFolder, { recursive: true, force: true }));

  it('finds the same turn at its open question, which can be answered, with no event twice and none missing', async () => {
    await pilothouse.newSession();
    await chat.send('count slowly from 1 to 9', 'write gated.txt: yes', 'finish with all done');
    await chat.waitForQuestion('Write gated.txt');
    const id = await pilothouse.sessionId();
    const host = pilothouse.hostPid();
    side = await SideClient.open(window().home);
    const before = await side.tip(id);
    const lastShown = (await side.shownEvents(id)).at(-1) ?? 0;

    await window().reload();
    await chat.waitForQuestion('Write gated.txt');
    await chat.waitForActivity('Needs you');
    expect(await pilothouse.sessionId()).toBe(id);
    expect(counted(await chat.replies(), 9)).toBe(true);
    expect(await side.tip(id)).toEqual(before);
    await window().screenshot('reloaded');

    await chat.answer('Write gated.txt', 'Allow once');
    await chat.waitForReply('all done');
    await chat.waitForActivity('Ready');
    expect(existsSync(file('gated.txt'))).toBe(true);
    expect(pilothouse.hostPid()).toBe(host);
    expect(await side.hashAt(id, before.eventId)).toBe(before.prefixHash);
    expect(await side.turns(id)).toBe(1);
    const events = await side.shownEvents(id);
    expect(events.length).toBeGreaterThan(5);
    const [first, second] = tap.told(id);
    if (!first || !second) throw new Error('A window was told nothing.');
    // Its process may have lived on for a moment.
    expect(first.events).toEqual(events.slice(0, first.events.length));
    expect(first.events.at(-1)).toBeGreaterThanOrEqual(lastShown);
    expect(second.events).toEqual(events);
    expect([...first.repeats, ...second.repeats]).toEqual([]);
    expect(tap.told(id)).toHaveLength(2);
  });

  it('finds what a running command printed so far, what waits, and Stop', async () => {
    await pilothouse.newCodeSession();
    const first = 'for i in 1 2 3 4 5; do echo line $i of the loop; done';
    const wait = 'until [ -e more ]; do sleep 0.05; done';
    await chat.send(
      `run ${first}; ${wait}; echo line 6 of the loop; sleep 4321`,
      'finish with never',
    );
    await chat.waitForReply(/line 5 of the loop/);
    await chat.send('say I am a steer');
    await chat.waitForPending(/I am a steer/, '');
    await chat.type('say I am for later');
    await window().pressKeys('Alt+Enter');
    await chat.waitForQueued(/for later/);
    const id = await pilothouse.sessionId();

    await window().reload();
    await chat.waitForReply(/line 5 of the loop/);
    await chat.waitForActivity('Working');
    await writeFile(file('more'), '');
    const output = await chat.waitForReply(/line 6 of the loop/);
    const lines = [...output.matchAll(/^line (\d) of the loop$/gm)].map(([, line]) => line);
    expect(lines.join('')).toBe('123456');
    await chat.waitForPending(/I am a steer/, '');
    await chat.waitForQueued(/for later/);
    const row = await (await pilothouse.sessions()).waitFor(/run for i in/);
    expect(row.ariaLabel).toContain('running');
    await window().screenshot('reloaded-running');

    await chat.press('Stop');
    await chat.waitForReply('Stopped by you');
    side = await SideClient.open(window().home);
    expect(await side.turns(id)).toBe(1);
    expect(processes().filter(({ command }) => command === 'sleep 4321')).toEqual([]);
  });

  it('shows a text that streams once, and the end of the turn', async () => {
    await pilothouse.newSession();
    await chat.send('count slowly from 1 to 300');
    await chat.waitForReply(/\b30\b/);
    await window().reload();
    await chat.waitForActivity('Working');
    await chat.waitForReply(/\b300\b[\s\S]*Done: 1 step/, 90_000);
    expect(counted(await chat.replies(), 300)).toBe(true);
    await chat.waitForActivity('Ready');
    await chat.send('say I go on');
    await chat.waitForReply('I go on');
  });

  it('has its turn end without it when it is closed, and finds it finished', async () => {
    await pilothouse.newCodeSession();
    const loop = 'until [ -e go-on ]; do sleep 0.05; done';
    await chat.send(`run ${loop}`, 'write finished.txt: yes', 'finish with done without a window');
    await chat.card(loop);
    const host = pilothouse.hostPid();
    await window().close();
    await until('its door to close', () => pilothouse.agents().length === 0);
    await writeFile(file('go-on'), '');
    await until('the turn to go on', () => existsSync(file('finished.txt')));
    await window().reopen();
    await chat.waitForReply('done without a window');
    await chat.waitForActivity('Ready');
    expect(pilothouse.hostPid()).toBe(host);
  });

  it('has what runs stopped where the person set so, also when it is set in the middle of a turn', async () => {
    await pilothouse.newCodeSession();
    const sleep = `sleep ${20_000 + Math.round(Math.random() * 1e9) / 1000}`;
    await chat.send(`start ${sleep}`, 'count slowly from 1 to 3000');
    await chat.waitForReply(/\b4\b/);
    const sleeps = () => processes().filter(({ command }) => command.startsWith(sleep));
    expect(sleeps().length).toBeGreaterThan(0);
    await mkdir(file('.vscode'));
    await writeFile(file('.vscode/settings.json'), '{ "pilothouse.onWindowClose": "stop" }');
    await until('the host to be told', () => tap.heard('"onDetach":"stop"'));
    await window().reload();
    await until('what it started to end', () => sleeps().length === 0, { milliseconds: 20_000 });
    await chat.waitForReply(/\b4\b[\s\S]*Stopped when its window or session was closed/);
    await chat.waitForActivity('Ready');
    await rm(file('.vscode'), { recursive: true });
  });
});
