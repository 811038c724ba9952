import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { isObject } from '../../../src/base/json.ts';
import { RpcFailure } from '../../support/acp-client/client.ts';
import {
  callsTools,
  type ProviderClient,
  providerClient,
  says,
} from '../../support/agent-core/provider-client.ts';
import type { Scenario } from '../../support/model-server/scenario.ts';

type Ended = { readonly stopReason: string | null; readonly kind: string; readonly owner: string };

/** How a turn ended, from its result, or from its error where the wire answers with one. */
async function ended(turn: Promise<Record<string, unknown>>): Promise<Ended> {
  type Terminal = { kind: string; owner: string; reason: string };
  try {
    const result = await turn;
    const { terminal } = (result['_meta'] as { harn: { terminal: Terminal } }).harn;
    expect(terminal.reason).not.toBe('');
    return {
      stopReason: String(result['stopReason']),
      kind: terminal.kind,
      owner: terminal.owner,
    };
  } catch (failure) {
    if (!(failure instanceof RpcFailure)) throw failure;
    const { kind, owner } = failure.data['terminal'] as Terminal;
    return { stopReason: null, kind, owner };
  }
}

function line(stopReason: string | null, kind: string, owner: string): Ended {
  return { stopReason, kind, owner };
}

describe('a turn over the wire ends as', () => {
  let one: ProviderClient;
  const turn = (text = 'go'): Promise<Ended> => ended(one.client.prompt(one.sessionId, text));

  const budgetEvents = () =>
    one.client.frames.flatMap(({ message }) => {
      const params = message?.['method'] === '_harn/agentEvent' ? message['params'] : null;
      return isObject(params) && params['kind'] === 'budget_exhausted' ? [params] : [];
    });

  beforeEach(async () => {
    one = await providerClient();
  });

  it('natural; completion_unverified when its judge never agrees or never answers well', async () => {
    one.server.script(says('done'));
    expect(await turn()).toEqual(line('end_turn', 'natural', 'agent'));
    await one.setOption('judge', 'same');
    one.server.script(says('done'), says('{"verdict":"done","reason":"yes"}'));
    expect(await turn()).toEqual(line('end_turn', 'natural', 'agent'));
    one.server.script(says('done'), says('no verdict'), says('none either'));
    expect(await turn()).toEqual(line('end_turn', 'completion_unverified', 'policy'));
    const veto = says('{"verdict":"continue","reason":"no","correction":"more"}');
    one.server.script(...[0, 1, 2].flatMap(() => [says('done'), veto]));
    expect(await turn()).toEqual(line('end_turn', 'completion_unverified', 'policy'));
  });

  it('user_cancelled by Stop, policy_stop when its session is closed under it', async () => {
    const hangs: Scenario = { kind: 'silence' };
    one.server.script(hangs, hangs);
    const stopped = turn();
    await one.server.received(1);
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect(await stopped).toEqual(line('cancelled', 'user_cancelled', 'user'));
    const closed = turn();
    await one.server.received(2);
    await one.client.call('session/close', { sessionId: one.sessionId });
    expect(await closed).toEqual(line('cancelled', 'policy_stop', 'policy'));
  });

  it('policy_budget at its limits of replies and of tokens; under them it is natural', async () => {
    const list = callsTools('l', ['list', {}]);
    await one.setOption('budget', '{"steps":2}');
    one.server.script(list, list);
    expect(await turn()).toEqual(line('max_turn_requests', 'policy_budget', 'policy'));
    expect(one.server.requests).toHaveLength(2);
    await one.setOption('budget', '{"tokens":1000}');
    one.server.script({ ...callsTools('t', ['list', {}]), usage: { input: 900, output: 200 } });
    expect((await turn()).kind).toBe('policy_budget');
    const limits = [
      { kind: 'budget_exhausted', budgetKind: 'steps', limitValue: 2, iteration: 2 },
      { kind: 'budget_exhausted', budgetKind: 'tokens', limitValue: 1000, iteration: 1 },
    ];
    expect(budgetEvents()).toMatchObject(limits);
    await one.setOption('budget', '{"steps":2}');
    one.server.script(says('natural'));
    expect((await turn()).kind).toBe('natural');
    expect(budgetEvents()).toHaveLength(limits.length);
  });

  it('policy_no_progress when it goes round in circles, policy_guardrail at a wall; both natural where it gets on', async () => {
    const same = callsTools('s', ['run', { command: 'echo same' }]);
    one.server.script(...Array<Scenario>(5).fill(same));
    expect(await turn()).toEqual(line('end_turn', 'policy_no_progress', 'policy'));
    expect(one.server.requests).toHaveLength(5);
    const other = callsTools('o', ['run', { command: 'echo other' }]);
    one.server.script(same, same, same, same, other, same, same, same, same, says('done'));
    expect(await turn()).toEqual(line('end_turn', 'natural', 'agent'));

    const denied = (name: string): Scenario =>
      callsTools(name, ['run', { command: `cat ${join(one.home, name)}` }]);
    one.server.script(denied('a'), denied('b'), denied('c'));
    expect(await turn()).toEqual(line('end_turn', 'policy_guardrail', 'policy'));
    one.server.script(denied('a'), denied('b'), same, denied('c'), says('done'));
    expect(await turn()).toEqual(line('end_turn', 'natural', 'agent'));
  });

  it('policy_stop at the output limit and at a refusal, unknown for a reason that has no name', async () => {
    const ending = (finish: 'length' | 'refusal' | 'other'): Scenario => ({
      kind: 'reply',
      steps: [{ type: 'text', text: 'half' }],
      finish,
    });
    one.server.script(ending('length'), ending('refusal'), ending('other'));
    expect(await turn()).toEqual(line('max_tokens', 'policy_stop', 'policy'));
    expect(await turn()).toEqual(line('refusal', 'policy_stop', 'policy'));
    expect(await turn()).toEqual(line('end_turn', 'unknown', 'unknown'));
  });

  it('provider_error when the provider failed for good, and the next turn is natural', async () => {
    one.server.script({ kind: 'error', status: 400, message: 'no such parameter' }, says('fine'));
    expect(await turn()).toEqual(line(null, 'provider_error', 'provider'));
    expect(await turn()).toEqual(line('end_turn', 'natural', 'agent'));
  });

  it('runtime_error when the program itself fails, with nothing left open, and the next turn is natural', async () => {
    await one.client.call('session/set_mode', { sessionId: one.sessionId, modeId: 'ask' });
    one.client.onRequest('session/request_permission', (params) => {
      const options = params['options'] as { optionId: string; kind: string }[];
      const always = options.findLast(({ kind }) => kind === 'allow_always');
      return { outcome: { outcome: 'selected', optionId: always?.optionId } };
    });
    // Where the rules are kept can't be written.
    const rules = join(one.home, 'policy.json');
    rmSync(rules, { force: true });
    mkdirSync(rules);
    one.server.script(callsTools('r', ['run', { command: 'touch x' }]), says('fine'));
    expect(await turn()).toEqual(line(null, 'runtime_error', 'harness'));
    const { gates } = await one.client.call('_pilothouse/gates/list', {
      sessionId: one.sessionId,
    });
    expect(gates).toEqual([]);
    one.server.answer = () => says('fine');
    expect(await turn()).toEqual(line('end_turn', 'natural', 'agent'));
  });
});

describe('a turn of a provider that can pause', () => {
  it('is suspended after three empty pauses in a row, and natural when it says something in between', async () => {
    const one = await providerClient({ kind: 'anthropic' });
    const pause = (text: string): Scenario => ({
      kind: 'reply',
      steps: text === '' ? [] : [{ type: 'text', text }],
      finish: 'pause',
    });
    one.server.script(pause(''), pause(''), pause(''));
    expect(await ended(one.client.prompt(one.sessionId, 'go'))).toEqual(
      line('end_turn', 'suspended', 'agent'),
    );
    one.server.script(pause(''), pause('a'), pause(''), pause('b'), says('done'));
    expect(await ended(one.client.prompt(one.sessionId, 'go'))).toEqual(
      line('end_turn', 'natural', 'agent'),
    );
  });
});
