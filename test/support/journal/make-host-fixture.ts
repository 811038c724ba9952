/**
 * Makes `test/fixtures/journal/NAME.db` with real sessions: turns, tools, gates, receipts, a large prompt, messages of
 * every kind, moves of the conversation, and all that a crash can find unfinished. Run it once
 * when an issue is done, with the code of that commit; a fixture that is committed is never made again.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client, LiveSession } from '../../../src/core/host/api.ts';
import { openHost } from '../../../src/core/host/compose/open-host.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import { systemClock } from '../../../src/core/host/node-ports.ts';
import { openJournal } from '../../../src/core/journal/open-journal.ts';
import type { GateAnswer } from '../../../src/core/session/gate-words.ts';

const [name = ''] = process.argv.slice(2);
if (!/^[a-z0-9-]+$/u.test(name)) throw new Error('Say what the fixture is called.');
const target = fileURLToPath(new URL(`../../fixtures/journal/${name}.db`, import.meta.url));
if (await stat(target).catch(() => null)) throw new Error(`${target} is there already.`);

const actor = { clientId: 'fixture', role: 'host_owner', source: 'acp' } as const;
const client: Client = {
  key: 'test',
  actor,
  canReadFiles: false,
  canWriteFiles: false,
  readTextFile: async () => null,
  writeTextFile: async () => false,
};
const dataFolder = await mkdtemp(join(tmpdir(), 'pilothouse-fixture-'));
const cwd = join(tmpdir(), 'pilothouse-lighthouse');
await mkdir(cwd);
await writeFile(join(cwd, 'keeper.md'), '# The keeper\n\nNobody lives there.\n');
const log = createLog({ file: null, level: 'error', stderr: process.stderr });
const journal = await openJournal({ dataFolder, log, clock: systemClock });
const running = openHost({
  journal,
  dataFolder,
  environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
  defaultModel: null,
  version: '0.0.0',
  log,
});

const { host } = running;

/** Runs one prompt; each gate that opens gets the next answer, the last one again and again. */
async function prompt(
  session: LiveSession,
  text: string,
  answers: readonly GateAnswer[] = [],
): Promise<void> {
  const left = [...answers];
  const { subscription } = session.subscribe((signal) => {
    if (signal.stream !== 'history' || signal.record.event.type !== 'gate_opened') return;
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer !== undefined) void session.answerGate(signal.record.event.gateId, answer, actor);
  });
  await session.prompt({
    admission: host.admit(),
    content: [{ type: 'text', text }],
    actor,
  });
  subscription.dispose();
}

const allow: GateAnswer = { kind: 'selected', optionId: 'allow_once' };
const reject: GateAnswer = { kind: 'selected', optionId: 'reject_once' };
const request = { cwd, additionalDirectories: [], mcpServers: [] };

/** Resolves with the first event of the kind that is recorded from now on. */
function recorded(session: LiveSession, type: string): Promise<void> {
  return new Promise((resolve) => {
    const { subscription } = session.subscribe((signal) => {
      if (signal.stream === 'ephemeral' || !('record' in signal)) return;
      if (signal.record.event.type !== type) return;
      subscription.dispose();
      resolve();
    });
  });
}

const text = (said: string) => [{ type: 'text', text: said }] as const;
const targetOf = ({ sessionId }: LiveSession) => ({ sessionId, actor });
const { controls } = host;

// Every kind of message, and the conversation moved to and fro.
const steered = await host.create(request, client);
await steered.setOption('mode', 'code', actor);
const begun = recorded(steered, 'message_delta');
const steering = prompt(steered, 'say steer me\nwait 3\nsay two\nfinish with Steered.');
await begun;
const steer = targetOf(steered);
await controls.inject(steer, { mode: 'steer', content: text('say three') });
await controls.inject(steer, { mode: 'queue', content: text('a note') });
await controls.remind(steer, { body: 'Be short.', mode: 'finish_step', dedupeKey: 'short' });
const { messageId } = await controls.inject(steer, { mode: 'steer', content: text('say four') });
await controls.replaceInject(steer, messageId, text('say five'));
const other = await controls.inject(steer, { mode: 'steer', content: text('say six') });
await controls.revokeInject(steer, other.messageId);
await steering;
await prompt(steered, 'write lamp.md: Lit\nfinish with Lit.');
await controls.rollback(steer, { overwrite: 'all' });
await controls.redo(steer, { overwrite: 'all' });
await controls.rollback(steer, { overwrite: 'all' });
await controls.changeQueue(steer, { kind: 'pause' });
await controls.changeQueue(steer, { kind: 'add', content: text('say queued'), before: null });
await host.close(steered.sessionId, actor);

// A crash will find this one with a running turn, a message for it, a prompt behind it and one that is queued.
const waiting = await host.create(request, client);
const isWaiting = recorded(waiting, 'message_delta');
const endless = prompt(waiting, 'say wait for me\nwait 600').catch(() => undefined);
await isWaiting;
await controls.inject(targetOf(waiting), { mode: 'steer', content: text('say pending') });
await controls.inject(targetOf(waiting), { mode: 'queue', content: text('pending note') });
const behind = prompt(waiting, 'say behind it').catch(() => undefined);
await controls.changeQueue(targetOf(waiting), {
  kind: 'add',
  content: text('say later'),
  before: null,
});

// And these at an open question.
const parked = await host.create(request, client);
const isParked = recorded(parked, 'gate_opened');
const asked = prompt(parked, 'write parked.md: Parked\nfinish with Written.').catch(
  () => undefined,
);
await isParked;
const questioned = await host.create(request, client);
const isAsked = recorded(questioned, 'gate_opened');
const question = prompt(questioned, 'ask Which way?\nfinish with Answered.').catch(() => undefined);
await isAsked;

const work = await host.create(request, client);
await prompt(
  work,
  'think The keeper is gone.\nread keeper.md\ntogether: list . ; read keeper.md\nplan: Look; Write\nfinish with The lighthouse is read.',
);
await work.setOption('thought_level', 'high', actor);
await prompt(work, 'write lamp.md: Lit\nreplace Lit with Dark in lamp.md\nfinish with Written.', [
  allow,
  allow,
]);
await prompt(work, 'write no.md: No\nask Which lamp?\nfinish with Refused and asked.', [
  reject,
  { kind: 'accepted', content: { answer: 'the big one' } },
]);
await prompt(work, 'run echo lamp\nstart sleep 30\nfinish with Run.', [allow]);
const stopped = work.prompt({
  admission: host.admit(),
  content: [{ type: 'text', text: 'say begun\nwait 60' }],
  actor,
});
await new Promise<void>((resolve) => {
  work.subscribe((signal) => {
    if (signal.stream === 'history' && signal.record.event.type === 'message_delta') resolve();
  });
});
await host.cancel(work.sessionId, host.admit(), actor).receipt;
await stopped;
await host.cancel(work.sessionId, host.admit(), actor).receipt;
await host.close(work.sessionId, actor);

const large = await host.create(request, client);
await large.prompt({
  admission: host.admit(),
  content: [
    { type: 'text', text: 'say A large picture of the lighthouse.' },
    { type: 'image', mimeType: 'image/png', data: 'AAAA'.repeat(140_000) },
  ],
  actor,
});
await host.close(large.sessionId, actor);

// This one is in the middle of a turn, as after a crash.
const cut = await host.create(request, client);
const cutOff = new Promise<void>((resolve) => {
  cut.subscribe((signal) => {
    if (signal.stream === 'history' && signal.record.event.type === 'tool_started') resolve();
  });
});
const cutPrompt = prompt(cut, 'say one\nrun sleep 60', [allow]);
await cutOff;
// By another process: one that closes a file of a database it has open loses its locks on it.
const script = `const { DatabaseSync } = require('node:sqlite');
  const [from, to] = process.argv.slice(1);
  new DatabaseSync(from).prepare('VACUUM INTO ?').run(to);`;
execFileSync(process.execPath, ['-e', script, join(dataFolder, 'sessions.db'), target]);
await running.close();
await Promise.all([cutPrompt.catch(() => undefined), endless, behind, asked, question]);

await rm(dataFolder, { recursive: true });
await rm(cwd, { recursive: true });
console.log(`${target} made`);
