import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/protocol/harn.ts';
import { eventually } from '../../support/agent-core/agent-core.ts';
import type { ControlClient } from '../../support/agent-core/control-client.ts';
import {
  callsTools,
  directivesOf,
  providerClient,
  says,
  userTexts,
} from '../../support/agent-core/provider-client.ts';

type Pass = Extract<AgentEvent, { kind: 'loop_checkpoint' }>;

/** Every seam pass told so far, in order. */
function passes({ client }: ControlClient): readonly Pass[] {
  return client
    .calls('_harn/agentEvent')
    .map(({ params }) => params as AgentEvent)
    .filter((event) => event.kind === 'loop_checkpoint');
}

const WAITS = { command: 'touch begun; while [ ! -e go ]; do sleep 0.02; done; rm go begun' };

describe('every pass of a seam', () => {
  it('is told in the order of the loop, whether it delivered something or not', async () => {
    const one = await providerClient();
    one.server.script(callsTools('a', ['list', {}]), says('done'));
    await one.client.prompt(one.sessionId, 'go');
    expect(passes(one).map(({ seam, iteration }) => `${iteration} ${seam}`)).toEqual([
      '1 iteration_start',
      '1 pre_tool_dispatch',
      // Once more behind the questions of a batch, though this one had none.
      '1 pre_tool_dispatch',
      '1 post_tool_dispatch',
      '2 iteration_start',
      '2 iteration_end',
      '2 loop_exit',
    ]);
    for (const { delivered, dispatch_skipped, message_ids, sessionId } of passes(one)) {
      expect({ delivered, dispatch_skipped, message_ids }).toEqual({
        delivered: 0,
        dispatch_skipped: false,
        message_ids: [],
      });
      expect(sessionId).toBe(one.sessionId);
    }
  });

  it('names what it delivered; a dropped batch says why', async () => {
    const one = await providerClient({ mode: 'ask' });
    one.client.onRequest('session/request_permission', () => undefined);
    one.server.script(callsTools('a', ['write', { path: 'x', text: 'x' }]), says('done'));
    const turn = one.client.prompt(one.sessionId, 'go');
    await one.client.waitFor(({ message }) => message?.['method'] === 'session/request_permission');
    const { messageId } = await one.inject('interrupt', 'no');
    const note = await one.inject('queue', 'for the record');
    await turn;
    const told = passes(one).filter(({ delivered }) => delivered > 0);
    expect(told).toMatchObject([
      {
        seam: 'pre_tool_dispatch',
        message_ids: [messageId],
        dispatch_skipped: true,
        skip_reason: 'interrupt_immediate',
      },
      { seam: 'loop_exit', message_ids: [note['messageId']], dispatch_skipped: false },
    ]);
  });

  it('around a wait is idle, and an interrupt ends that wait while a steer does not', async () => {
    const one = await providerClient();
    const busy = { kind: 'error', status: 429, headers: { 'retry-after': '30' } } as const;
    one.server.script(busy, says('done'));
    const turn = one.client.prompt(one.sessionId, 'go');
    await eventually(() => passes(one).some(({ seam }) => seam === 'idle_pre'), 'the wait');
    await one.inject('steer', 'steered');
    await one.client.call('session/list');
    expect(one.server.requests).toHaveLength(1);
    await one.inject('interrupt', 'hurry');
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(one.server.requests).toHaveLength(2);
    const seams = passes(one).map(({ seam }) => seam);
    expect(seams.indexOf('idle_post')).toBe(seams.indexOf('idle_pre') + 1);
    // Both are in the next thing that the model reads.
    expect(seams.slice(seams.indexOf('idle_post'))).toEqual([
      'idle_post',
      'iteration_start',
      'iteration_end',
      'loop_exit',
    ]);
    expect(userTexts(one.server.requests[1])).toEqual(
      expect.arrayContaining(['go', 'steered', 'hurry']),
    );
  });

  it('behind a wait lets in a steer that came meanwhile, so that it is in what the model reads next', async () => {
    const one = await providerClient();
    const busy = { kind: 'error', status: 429, headers: { 'retry-after': '1' } } as const;
    one.server.script(busy, says('done'));
    const turn = one.client.prompt(one.sessionId, 'go');
    await eventually(() => passes(one).some(({ seam }) => seam === 'idle_pre'), 'the wait');
    await one.inject('steer', 'steered');
    await turn;
    expect(one.server.requests).toHaveLength(2);
    expect(directivesOf(one.server.requests[1])).toMatchObject([{ text: 'steered' }]);
    expect(one.seams()).toEqual(['iteration_start 1 false']);
  });

  it('before and behind a compaction is told, and lets no message in', async () => {
    const one = await providerClient({ contextTokens: 1_000 });
    one.server.script(
      { ...callsTools('a', ['list', {}]), usage: { input: 900, output: 10 } },
      says('a summary'),
      says('done'),
    );
    await one.client.prompt(one.sessionId, 'go');
    const seams = passes(one).map(({ seam }) => seam);
    const at = seams.indexOf('pre_compact');
    expect(seams.slice(at - 1, at + 2)).toEqual(['iteration_start', 'pre_compact', 'post_compact']);
  });
});

describe('a tool call that a person stopped', () => {
  it('is told to the model as a reminder only where that was asked for', async () => {
    for (const injectReminder of [true, false]) {
      const one = await providerClient();
      one.server.script(callsTools('s', ['run', WAITS]), says('done'));
      const turn = one.client.prompt(one.sessionId, 'go');
      await eventually(() => existsSync(join(one.folder, 'begun')), 'the tool');
      const frame = await one.client.waitFor(({ text }) => text.includes('"in_progress"'));
      const toolCallId = /"toolCallId":"([^"]+)"/.exec(frame.text)?.[1];
      const call = { sessionId: one.sessionId, toolCallId, injectReminder, reason: 'too slow' };
      expect(await one.client.call('session/cancel_tool_call', call)).toMatchObject({
        status: 'cancelled',
        tool: 'run',
      });
      expect((await turn)['stopReason']).toBe('end_turn');
      const told = directivesOf(one.server.requests[1]).filter(({ text }) =>
        text.includes('too slow'),
      );
      expect(told).toHaveLength(injectReminder ? 1 : 0);
      writeFileSync(join(one.folder, 'go'), '');
    }
  });
});
