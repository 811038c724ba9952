import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONTROLS, type Control, type ControlOutcome } from '../../../src/protocol/controls.ts';
import { RpcFailure } from '../../support/acp-client/client.ts';
import { eventually } from '../../support/agent-core/agent-core.ts';
import {
  type ControlClient,
  controlClient,
  INSTANT,
} from '../../support/agent-core/control-client.ts';
import { allReceipts } from '../../support/soak/control-run.ts';

/** What each control is called with; the last two end the session. */
const PARAMS: Readonly<Record<Control, object>> = {
  'session/cancel': {},
  'session/set_mode': { modeId: 'code' },
  'session/set_config_option': { configId: 'mode', value: 'code' },
  'session/inject': { mode: 'queue', content: 'x' },
  'session/revoke_inject': { messageId: 'nope' },
  'session/replace_inject': { messageId: 'nope', content: 'x' },
  'session/remind': { body: 'x', mode: 'audit_only' },
  'session/revoke_reminder': { reminderId: 'nope' },
  'session/cancel_tool_call': { toolCallId: 'nope' },
  'session/rollback': {},
  'session/redo': {},
  'session/fork': {},
  'session/truncate': { keepFirst: 0 },
  'session/fs_mode': { mode: 'immediate' },
  'session/fs_commit_staged': {},
  'session/fs_discard_staged': {},
  'session/restore_tool_call': { toolCallId: 'nope' },
  '_pilothouse/compact': {},
  '_pilothouse/gates/respond': { gateId: 'nope' },
  '_pilothouse/commands/withdraw': { commandId: 'nope' },
  '_pilothouse/loops/activate': { loopId: 'nope' },
  '_pilothouse/delegates/message': { loopId: 'nope', text: 'x' },
  '_pilothouse/delegates/stop': { loopId: 'nope' },
  '_pilothouse/checkpoints/create': {},
  '_pilothouse/staged/edit': { path: '/nope', staged: null },
  '_pilothouse/checkpoints/restore': { checkpointId: 'nope' },
  '_pilothouse/queue/add': { content: 'finish with x' },
  '_pilothouse/queue/edit': { itemId: 'nope', content: 'x' },
  '_pilothouse/queue/move': { itemId: 'nope' },
  '_pilothouse/queue/remove': { itemId: 'nope' },
  '_pilothouse/queue/pause': {},
  '_pilothouse/queue/resume': {},
  '_pilothouse/queue/send_now': { itemId: 'nope' },
  'session/close': {},
  'session/delete': {},
};

type Called = { readonly method: Control; readonly actor: string; readonly wasRefused: boolean };

/** Calls a control under a client id of its own. */
async function call(
  { client }: ControlClient,
  method: Control,
  actor: string,
  params: object,
): Promise<Called> {
  const meta = { _meta: { harn: { actor: { clientId: actor } } } };
  try {
    await client.request(method, { ...params, ...meta });
    return { method, actor, wasRefused: false };
  } catch (failure) {
    if (!(failure instanceof RpcFailure)) throw failure;
    return { method, actor, wasRefused: true };
  }
}

/** Exactly one receipt for each, which says what the answer said, and names method, actor, session and outcome. */
function expectOneEach(
  called: readonly Called[],
  receipts: readonly ControlOutcome[],
  sessionId: string,
  state: string,
): void {
  for (const { method, actor, wasRefused } of called) {
    const own = receipts.filter((receipt) => receipt.actor.clientId === actor);
    expect(own, `${method} ${state}`).toHaveLength(1);
    expect(own[0], `${method} ${state}`).toMatchObject({
      method,
      session_id: sessionId,
      control_id: expect.stringMatching(/./),
      actor: { role: 'host_owner', source: 'acp' },
      target: { sessionId },
      outcome: expect.stringMatching(/^[a-z_]+$/),
    });
    // Nothing was found to stop: that is an answer, and no error.
    const isRejected = wasRefused || own[0]?.outcome === 'not_found';
    expect(own[0]?.status === 'rejected', `${method} ${state}: rejected`).toBe(isRejected);
    if (isRejected) expect(own[0]?.reason, `${method} ${state}`).toMatch(/^[a-z_]+$/);
  }
  const ids = receipts.map(({ control_id }) => control_id);
  expect(new Set(ids).size).toBe(ids.length);
}

const LASTING = CONTROLS.filter((method) => !/close|delete/.test(method));

describe('exactly one receipt', () => {
  it('comes of every control of an idle session, again when it is repeated, and with nonsense for parameters', async () => {
    const one = await controlClient({ env: INSTANT });
    const { client, sessionId } = one;
    await client.call('_pilothouse/queue/pause', { sessionId });
    const called: Called[] = [];
    for (const round of ['first', 'again'])
      for (const method of LASTING)
        called.push(
          await call(one, method, `${round}-${method}`, { sessionId, ...PARAMS[method] }),
        );
    const idle = await allReceipts(client, sessionId);
    expectOneEach(called, idle, sessionId, 'idle');
    const nonsense: Called[] = [];
    for (const method of LASTING) {
      const broken = Object.fromEntries(Object.keys(PARAMS[method]).map((key) => [key, { no: 1 }]));
      if (Object.keys(broken).length > 0)
        nonsense.push(await call(one, method, `odd-${method}`, { sessionId, ...broken }));
    }
    expect(nonsense.every(({ wasRefused }) => wasRefused)).toBe(true);
    expectOneEach(nonsense, await allReceipts(client, sessionId), sessionId, 'with nonsense');
    // Reads make none.
    const before = (await allReceipts(client, sessionId)).length;
    for (const read of ['session/pending_injections', '_pilothouse/queue/list'])
      await client.call(read, { sessionId });
    await client.call('harn.session_view.query', { sessionId });
    await client.call('session/list');
    expect(await allReceipts(client, sessionId)).toHaveLength(before);
  });

  it('comes of every control while a turn runs, and of what ends the session', async () => {
    const one = await controlClient({ env: INSTANT });
    const { client, sessionId, folder } = one;
    const called: Called[] = [];
    // The controls that end the turn come last.
    const order = LASTING.toSorted(
      (a, b) => Number(/cancel$|truncate/.test(a)) - Number(/cancel$|truncate/.test(b)),
    );
    await client.call('_pilothouse/queue/pause', { sessionId });
    const turn = client.prompt(sessionId, 'run touch begun; sleep 30');
    await eventually(() => existsSync(join(folder, 'begun')), 'the tool');
    // It is answered when it is done, which the tool that runs keeps it from: it is left waiting, and stopped.
    const compact = '_pilothouse/compact';
    const compacting = call(one, compact, `running-${compact}`, { sessionId });
    for (const method of order) {
      if (method === '_pilothouse/queue/resume' || method === compact) continue;
      called.push(await call(one, method, `running-${method}`, { sessionId, ...PARAMS[method] }));
    }
    expect((await turn)['stopReason']).toBe('cancelled');
    called.push(await compacting);
    expectOneEach(called, await allReceipts(client, sessionId), sessionId, 'running');
    await call(one, 'session/close', 'running-session/close', { sessionId });
    const closed = await allReceipts(client, sessionId);
    expect(closed.filter(({ actor }) => actor.clientId === 'running-session/close')).toMatchObject([
      { method: 'session/close', status: 'accepted' },
    ]);
  });

  it('comes of every control that names a session that is not there; the host keeps it', async () => {
    const one = await controlClient({ env: INSTANT });
    const sessionId = 'nobody';
    const called: Called[] = [];
    for (const method of CONTROLS)
      called.push(await call(one, method, `ghost-${method}`, { sessionId, ...PARAMS[method] }));
    const { receipts } = (await one.client.call('_pilothouse/receipts/list', {})) as unknown as {
      receipts: { receipt: ControlOutcome }[];
    };
    expectOneEach(
      called,
      receipts.map(({ receipt }) => receipt),
      sessionId,
      'of an unknown session',
    );
    const refused = called.filter(({ wasRefused }) => !wasRefused).map(({ method }) => method);
    // Deleting what is not there is harmless.
    expect(refused).toEqual(['session/delete']);
    const told = one.receipts().filter(({ session_id }) => session_id === sessionId);
    expect(told).toHaveLength(CONTROLS.length);
  });
});
