import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stdioServer } from '../../../mcp-server/rig.ts';
import type { CrashRig } from '../../rig/crash-rig.ts';
import type { Scenario } from '../scenario.ts';

async function writes(
  rig: CrashRig,
  sessionId: string,
  ...texts: readonly string[]
): Promise<void> {
  for (const text of texts)
    await rig.prompt(sessionId, `write a.txt: ${text}`, `run ${rig.mark()}`, `finish with ${text}`);
}

/** Turns that are rolled back, done again, cut off, and files that are put back. */
const goingBack: Scenario = {
  name: 'going back',
  effects: [
    'checkpoint.before',
    'checkpoint.end',
    'checkpoint.plan',
    'checkpoint.restore',
    'checkpoint.settled',
    'checkpoint.keep',
  ],
  run: async (rig) => {
    const sessionId = await rig.newSession();
    await writes(rig, sessionId, 'one', 'two');
    const overwrite = 'all';
    await rig.call('session/rollback', { sessionId, overwrite });
    await rig.call('session/redo', { sessionId, overwrite });
    const toolCallId = lastCall(rig, 'edit');
    await rig.call('session/restore_tool_call', { sessionId, toolCallId, overwrite });
    await rig.call('_pilothouse/checkpoints/create', { sessionId });
    await rig.call('_pilothouse/checkpoints/preview', { sessionId, what: 'rollback' });
    await rig.call('session/fork', { sessionId });
    await rig.call('session/truncate', { sessionId, keepFirst: 1 });
  },
};

/** Files that are staged, kept, and thrown away. */
const staging: Scenario = {
  name: 'staging',
  run: async (rig) => {
    const sessionId = await rig.newSession();
    await rig.call('session/fs_mode', { sessionId, mode: 'staged' });
    await writes(rig, sessionId, 'one');
    await rig.call('session/fs_commit_staged', { sessionId });
    await writes(rig, sessionId, 'two');
    await rig.call('session/fs_discard_staged', { sessionId });
  },
};

/** Options that are changed and refused, roles, a summary, and the end of a session. */
const bookkeeping: Scenario = {
  name: 'bookkeeping',
  effects: ['session.delete'],
  run: async (rig) => {
    const sessionId = await rig.newSession();
    const set = (configId: string, value: string): Promise<unknown> =>
      rig.call('session/set_config_option', { sessionId, configId, value });
    await set('thought_level', 'high');
    await set('model', 'nobody/nothing');
    await rig.call('session/set_mode', { sessionId, modeId: 'nonsense' });
    // There is nothing to condense yet.
    await rig.call('_pilothouse/compact', { sessionId });
    for (const word of ['one', 'two', 'three', 'four'])
      await rig.prompt(sessionId, `say ${word.repeat(200)}`, `run ${rig.mark()}`, 'finish with it');
    await rig.call('_pilothouse/compact', { sessionId });
    await rig.call('_pilothouse/attach', { sessionId, role: 'observer' });
    await rig.call('_pilothouse/claim', { sessionId });
    await rig.call('_pilothouse/detach', { sessionId });
    await rig.call('session/close', { sessionId });
    await rig.call('session/load', { sessionId, cwd: rig.folder, mcpServers: [] });
    const other = await rig.newSession();
    await rig.prompt(other, `run ${rig.mark()}`);
    await rig.call('session/delete', { sessionId: other });
    rig.forget(other);
  },
};

/** A tool of an MCP server, and a server that can't be started. */
const external: Scenario = {
  name: 'external tools',
  effects: ['external_tool'],
  run: async (rig) => {
    const nowhere = { name: 'nowhere', command: '/nonexistent', args: [], env: [] };
    const sessionId = await rig.newSession('code', { mcpServers: [stdioServer('x'), nowhere] });
    for (let tries = 0; tries < 10 && !rig.isGone; tries += 1) {
      await rig.prompt(sessionId, 'call mcp__x__echo with {"text": "hello"}', 'finish with done');
      if (rig.client.frames.some(({ text }) => text.includes('"status":"completed"'))) break;
    }
  },
};

/** Delegates in front and behind, told more, stopped and finished. */
const delegates: Scenario = {
  name: 'delegates',
  run: async (rig) => {
    const sessionId = await rig.newSession();
    await rig.prompt(
      sessionId,
      `delegate: run ${rig.mark()}`,
      `delegate in background: run ${rig.mark()}`,
      'run sleep 0.2',
      'finish with both',
    );
    const slow = (file: string): string =>
      `run ${rig.mark()}; touch ${file}; while [ ! -e go ]; do sleep 0.01; done`;
    await rig.prompt(sessionId, `delegate in background: ${slow('one')}`, 'finish with one');
    await rig.prompt(sessionId, `delegate in background: ${slow('two')}`, 'finish with two');
    await rig.fileSays('one');
    await rig.fileSays('two');
    const listed = await rig.call('_pilothouse/loops/list', { sessionId });
    if (listed.kind !== 'ok') return;
    const loops = (listed.result['loops'] as { loopId: string }[]).map(({ loopId }) => loopId);
    const [stopped = 'none', child = 'none'] = loops.filter((id) => id !== sessionId).slice(-2);
    const told = JSON.stringify({ loop_id: child, text: `run ${rig.mark()}` });
    await rig.prompt(
      sessionId,
      'call delegate_list',
      `call delegate_message with ${told}`,
      `call delegate_stop with {"loop_id": "${stopped}"}`,
      'finish with three',
    );
    writeFileSync(join(rig.folder, 'go'), '');
    const given = rig.prompt(sessionId, `delegate: run ${rig.mark()}; touch three; sleep 5`);
    await rig.fileSays('three');
    await rig.call('session/cancel_tool_call', { sessionId, toolCallId: lastCall(rig) });
    await given;
    const text = `run ${rig.mark()}`;
    await rig.call('_pilothouse/delegates/message', { sessionId, loopId: child, text });
    await rig.call('_pilothouse/delegates/stop', { sessionId, loopId: child });
    await rig.call('_pilothouse/loops/activate', { sessionId, loopId: child });
    await rig.call('_pilothouse/loops/activate', { sessionId, loopId: sessionId });
  },
};

/** A session that was killed with all that can be open comes back: a crash in the middle of that. */
const comingBack: Scenario = {
  name: 'coming back',
  effects: ['checkpoint.recover', 'checkpoint.recover_turn'],
  before: async (rig) => {
    await rig.start();
    const sessionId = await rig.newSession();
    await rig.prompt(sessionId, 'start echo $$ >> pids; exec sleep 300', 'finish with started');
    void rig.prompt(sessionId, 'write a.txt: x', `run ${rig.mark()}; touch begun; sleep 5`);
    await rig.fileSays('begun', '');
    void rig.prompt(sessionId, `run ${rig.mark()}`);
    await rig.inject(sessionId, 'steer', `run ${rig.mark()}`);
    await rig.inject(sessionId, 'queue', 'noted');
    await rig.call('_pilothouse/queue/add', { sessionId, content: `run ${rig.mark()}` });
    const asking = await rig.newSession('ask');
    rig.permission = null;
    void rig.prompt(asking, `run ${rig.mark()}`, 'finish with asked');
    await rig.until(
      ({ message }) => message?.['method'] === 'session/request_permission',
      'the question',
    );
    await rig.kill();
  },
  run: async (rig) => {
    for (const sessionId of await rig.sessions())
      await rig.call('session/load', { sessionId, cwd: rig.folder, mcpServers: [] });
    if (!rig.isGone) await rig.settle();
  },
};

/** The newest call, of one kind if that matters. */
function lastCall(rig: CrashRig, kind?: string): string {
  const calls = rig.client.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'tool_call' && (kind === undefined || update.kind === kind)
      ? [update.toolCallId]
      : [],
  );
  return calls.at(-1) ?? 'none';
}

export const SESSION_SCENARIOS: readonly Scenario[] = [
  staging,
  goingBack,
  comingBack,
  delegates,
  bookkeeping,
  external,
];
