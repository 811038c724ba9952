import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { usePilothouse } from './support/pilothouse.ts';

/** A script for a delegate: its lines as one text, as the rehearsal reads them. */
const script = (...lines: string[]): string => JSON.stringify(lines.join('\n'));

describe('delegates', () => {
  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  afterEach(() => pilothouse.calm());

  const card = async (name: string) =>
    (await chat.frame()).locator('.delegate', {
      has: (await chat.frame()).locator('.tool-title strong').getByText(name, { exact: true }),
    });

  it('nest in the tree and in their card, ask in the name of their session, and are there after a reload', async () => {
    await pilothouse.sessions();
    await pilothouse.newSession();
    const deep = 'delegate: finish with from the deep';
    const task = script('say I look first', deep, 'write a.txt: hello', 'finish with **written**');
    await chat.send(`delegate: ${task}`, 'finish with all is done');
    const title = 'delegate 1: Write a.txt';
    await chat.waitForQuestion(title);
    await pilothouse.waitForWaiting(1);
    const sessions = await pilothouse.sessions();
    const asking = await sessions.waitFor('delegate 1', ({ description }) =>
      description.includes('needs you'),
    );
    await sessions.waitFor(title);
    const below = await sessions.waitFor('delegate 2', ({ level }) => level > asking.level);
    expect(below.description).toContain('done');
    const shown = (await (await card('delegate 1')).first().textContent()) ?? '';
    expect(shown).toContain('I look first');
    expect(shown).toContain('from the deep');
    expect(shown).toContain('Needs you');
    await window().screenshot('delegate-asks');

    await chat.answer(title, 'Allow once');
    await chat.waitForReply('all is done');
    expect(existsSync(file('a.txt'))).toBe(true);
    await sessions.waitFor('delegate 1', ({ description }) => description.includes('done'));
    const result = (await card('delegate 1')).first().locator('.delegate-result strong');
    expect(await result.allInnerTexts()).toEqual(['written']);

    await window().reload();
    await chat.waitForReply('all is done');
    const again = await pilothouse.sessions();
    const kept = await again.waitFor('delegate 1');
    await again.waitFor('delegate 2', ({ level }) => level > kept.level);
    const steps = (await card('delegate 1')).first();
    await steps.getByRole('button', { name: 'What it does' }).click();
    await until('the rows of the delegate', async () =>
      (await steps.textContent())?.includes('I look first'),
    );
    await window().screenshot('delegate-reloaded');
  });

  it('go on in the background, are stopped alone, and hand their results back', async () => {
    await pilothouse.newCodeSession();
    const busy = script('say busy with it', 'wait 300', 'finish with never');
    const quick = script('wait 6', 'finish with **quick** is done');
    await chat.send(
      `delegate in background: ${busy}`,
      `delegate in background: ${quick}`,
      'finish with both are under way',
    );
    await chat.waitForReply('both are under way');
    await chat.waitForText(/delegates? works?/);
    const sessions = await pilothouse.sessions();
    await sessions.waitFor('delegate 1', ({ description }) => description.includes('running'));
    expect(await (await card('delegate 1')).textContent()).toContain(
      'It goes on in the background',
    );
    await chat.press('Stop delegate 1');
    await sessions.waitFor('delegate 1', ({ description }) => description.includes('stopped'));
    // The other one was let be.
    await chat.waitForReply(/Result of delegate 2[\s\S]*quick is done/);
    await sessions.waitFor('delegate 2', ({ description }) => description.includes('done'));
    await window().screenshot('delegate-handed-back');
  });

  it('are talked to when a person says so, and not any more after one click', async () => {
    await pilothouse.newCodeSession();
    // A name that no delegate of the sessions beside it has.
    const call = 'call delegate with {"prompt": "finish with first task", "name": "scout"}';
    await chat.send(call, 'finish with the main agent is done');
    await chat.waitForReply('the main agent is done');
    const sessions = await pilothouse.sessions();
    await sessions.menu('scout', 'Talk to This Delegate');
    await chat.waitForText(/Your messages go to scout/);
    await sessions.waitFor('scout', ({ description }) => description.includes('you talk to it'));
    await chat.send('write b.txt: from the delegate');
    await until('the file of the delegate', () => existsSync(file('b.txt')));
    // What was said to it stands in its card, with its answer.
    const said = (await card('scout')).first().locator('.delegate-rows');
    await until('what was said to it', async () =>
      (await said.textContent())?.includes('write b.txt: from the delegate'),
    );
    await window().screenshot('delegate-talk');
    await chat.press('Back to the Main Agent');
    await until('the main agent again', async () => !/Your messages go to/.test(await chat.text()));
    await chat.send('finish with the main agent answers');
    await chat.waitForReply('the main agent answers');
    await sessions.menu('scout', 'Open Delegate Transcript');
    await until('its transcript', async () =>
      (await window().page.locator('.editor-instance').allInnerTexts()).some((text) =>
        text.replace(/\u00a0/g, ' ').includes('first task'),
      ),
    );
  });
});
