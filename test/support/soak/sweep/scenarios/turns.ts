import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CrashRig } from '../../rig/crash-rig.ts';
import type { Scenario } from '../scenario.ts';

/** Every built-in tool, in a turn that asks and starts processes. */
const tools: Scenario = {
  name: 'every tool',
  effects: [
    'model.request',
    'process.start',
    'process.stop_all',
    'checkpoint.before',
    'checkpoint.end',
  ],
  run: async (rig) => {
    const sessionId = await rig.newSession();
    await rig.prompt(
      sessionId,
      'think a little',
      'write a.txt: one',
      'read a.txt',
      'replace one with two in a.txt',
      'together: list . ; search two',
      'plan: A; B',
      `run ${rig.mark()}`,
      'ask Is it so?',
      `start echo $$ >> pids; ${rig.mark()}; exec sleep 300`,
      'call process_list',
      'call fetch with {"url": "http://127.0.0.1:9/"}',
      `together: run ${rig.mark()} ; run ${rig.mark()}`,
      'finish with done',
    );
    await rig.prompt(sessionId, 'start echo $$ >> pids; exec sleep 300', 'finish with more');
    await rig.call('session/cancel', { sessionId });
  },
};

/** A process that ends by itself, and one that is stopped by the model. */
const processes: Scenario = {
  name: 'processes',
  effects: ['process.start', 'process.stop'],
  run: async (rig) => {
    const sessionId = await rig.newSession();
    await rig.prompt(
      sessionId,
      `start ${rig.mark()}; echo over > over`,
      'run while [ ! -e over ]; do sleep 0.01; done; sleep 0.05',
      'start echo $$ >> pids; exec sleep 300',
      'finish with started',
    );
    const { processId } = startedLast(rig);
    await rig.prompt(
      sessionId,
      `call process_output with {"process_id": "${processId}"}`,
      `call process_stop with {"process_id": "${processId}"}`,
      'run sleep 0.05',
      'finish with stopped',
    );
  },
};

/** Questions that are answered in every way. */
const questions: Scenario = {
  name: 'questions',
  effects: ['policy.remember'],
  run: async (rig) => {
    rig.permission = null;
    const sessionId = await rig.newSession('ask');
    const turn = rig.prompt(
      sessionId,
      `run ${rig.mark()}`,
      'write a.txt: x',
      `together: run ${rig.mark()} ; run ${rig.mark()}`,
      'ask Is it so?',
      'finish with answered',
    );
    const respond = async (answer: object): Promise<void> => {
      const gateId = await rig.nextGate(sessionId);
      if (gateId !== null)
        await rig.call('_pilothouse/gates/respond', { sessionId, gateId, ...answer });
    };
    await respond({ optionId: 'allow_once' });
    await respond({ optionId: 'allow_always:0' });
    await respond({ optionId: 'reject_once', note: 'rather not' });
    await respond({ optionId: 'allow_once' });
    await respond({ content: { answer: 'yes' } });
    rig.permission = 'allow_once';
    await Promise.race([turn, rig.settle()]);
    await turn;
  },
};

/** A provider that fails at first, and a judge that looks. */
const failures: Scenario = {
  name: 'failures',
  run: async (rig) => {
    const sessionId = await rig.newSession();
    await rig.call('session/set_config_option', { sessionId, configId: 'judge', value: 'same' });
    await rig.prompt(sessionId, 'fail with 500', `run ${rig.mark()}`, 'finish with retried');
  },
};

/** A turn with messages of every mode, replaced, revoked and given back. */
const messages: Scenario = {
  name: 'messages',
  run: async (rig) => {
    const sessionId = await rig.newSession();
    const slow = 'while [ ! -e go ]; do sleep 0.01; done';
    const turn = rig.prompt(
      sessionId,
      `run ${rig.mark()}; touch begun; ${slow}`,
      `run ${rig.mark()}`,
      'finish with original',
    );
    await rig.fileSays('begun');
    const kept = await rig.inject(sessionId, 'steer', `run ${rig.mark()}\nfinish with steered`);
    const revoked = await rig.inject(sessionId, 'steer', `run ${rig.mark()}`);
    await rig.inject(sessionId, 'queue', 'noted');
    const idOf = (answer: typeof kept): object =>
      answer.kind === 'ok' ? { messageId: answer.result['messageId'] } : { messageId: 'none' };
    await rig.call('session/replace_inject', {
      sessionId,
      ...idOf(kept),
      content: `run ${rig.mark()}`,
    });
    await rig.call('session/revoke_inject', { sessionId, ...idOf(revoked) });
    await rig.call('session/remind', { sessionId, body: 'mind it', mode: 'finish_step' });
    writeFileSync(join(rig.folder, 'go'), '');
    await turn;
    const second = rig.prompt(sessionId, 'run touch again; sleep 5', `run ${rig.mark()}`);
    await rig.fileSays('again', '');
    await rig.inject(sessionId, 'queue', 'too late');
    await rig.inject(sessionId, 'steer', 'never read');
    await rig.call('session/cancel', { sessionId });
    await second;
    const third = rig.prompt(
      sessionId,
      'run touch third; while [ ! -e on ]; do sleep 0.01; done',
      `run ${rig.mark()}`,
    );
    await rig.fileSays('third', '');
    await rig.inject(sessionId, 'interrupt_immediate', `run ${rig.mark()}\nfinish with cut short`);
    writeFileSync(join(rig.folder, 'on'), '');
    await third;
  },
};

/** Messages for later turns, and prompts that wait, are taken back or are stopped. */
const waiting: Scenario = {
  name: 'waiting',
  effects: ['process.stop_all'],
  run: async (rig) => {
    const sessionId = await rig.newSession();
    const queue = (verb: string, more: object = {}): Promise<unknown> =>
      rig.call(`_pilothouse/queue/${verb}`, { sessionId, ...more });
    const running = rig.prompt(
      sessionId,
      'run touch begun; while [ ! -e go ]; do sleep 0.01; done',
    );
    await rig.fileSays('begun');
    const waits = [1, 2].map(() => rig.prompt(sessionId, `run ${rig.mark()}`));
    for (const itemId of ['q1', 'q2', 'q3'])
      await queue('add', { itemId, content: `run ${rig.mark()}\nfinish with ${itemId}` });
    await queue('edit', { itemId: 'q2', content: `run ${rig.mark()}` });
    await queue('move', { itemId: 'q3', before: 'q1' });
    await queue('remove', { itemId: 'q1' });
    await queue('pause');
    const withdrawn = rig.sent.at(-1)?.commandId ?? '';
    await rig.call('_pilothouse/commands/withdraw', { sessionId, commandId: withdrawn });
    writeFileSync(join(rig.folder, 'go'), '');
    await Promise.all([running, ...waits]);
    await queue('resume');
    if (!rig.isGone) await rig.settle();
    const stopped = rig.prompt(sessionId, 'run touch again; sleep 5');
    await rig.fileSays('again', '');
    const behind = rig.prompt(sessionId, `run ${rig.mark()}`);
    await rig.call('session/cancel', { sessionId });
    await Promise.all([stopped, behind]);
  },
};

/** The process that a call told of last; a name that there is not if none did. */
function startedLast(rig: CrashRig): { readonly processId: string } {
  const ids = rig.client.frames.flatMap(({ text }) => {
    const found = /"process_?[iI]d":"([^"]+)"/.exec(text);
    return found?.[1] ?? [];
  });
  return { processId: ids.at(-1) ?? 'none' };
}

export const TURN_SCENARIOS: readonly Scenario[] = [
  failures,
  questions,
  processes,
  messages,
  waiting,
  tools,
];
