import { describe, expect, it } from 'vitest';
import { DelegateError } from '../../../../../src/core/host/delegates/delegate-error.ts';
import type {
  DelegateRequest,
  Delegates,
  PrepareContext,
  ToolContext,
} from '../../../../../src/core/session/tool.ts';
import type { CommandId, LoopId } from '../../../../../src/core/session/words.ts';
import { delegateTools } from '../../../../../src/core/tools/session/delegate-tools.ts';

const INFO = {
  loopId: 'loop1' as LoopId,
  name: 'scout',
  state: 'running',
  requestId: 'request1' as CommandId,
} as const;

function delegates(own: Partial<Delegates> = {}): Delegates {
  return {
    start: async () => INFO,
    result: async () => ({ ...INFO, outcome: 'completed', text: 'found' }),
    message: async () => ({ requestId: 'request2' as CommandId, delivery: 'started' }),
    list: () => [INFO],
    stop: async () => true,
    stopAll: async () => undefined,
    ...own,
  };
}

async function run(name: string, input: object, own?: Delegates) {
  const tool = delegateTools().find(({ definition }) => definition.name === name);
  const prepared = await tool?.prepare({ ...input }, {} as PrepareContext);
  if (prepared === undefined || 'error' in prepared) return prepared;
  const context = {
    turnId: 't1',
    toolCallId: 'c1',
    signal: new AbortController().signal,
    output: () => undefined,
    ...(own === undefined ? {} : { delegates: own }),
  };
  const { status, parts, rawOutput } = await prepared.run(context as unknown as ToolContext);
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { status, text, rawOutput, title: prepared.preview.title };
}

describe('the delegate tool', () => {
  it('gives the task with what was asked for, and the result as the result of the call', async () => {
    const asked: DelegateRequest[] = [];
    const own = delegates({
      start: async (request) => {
        asked.push(request);
        return INFO;
      },
    });
    const input = { prompt: 'look\naround', name: 'scout', mode: 'ask' };
    expect(await run('delegate', input, own)).toEqual({
      status: 'completed',
      text: 'found',
      title: 'Delegate: look around',
      rawOutput: { loopId: 'loop1', name: 'scout', requestId: 'request1', outcome: 'completed' },
    });
    expect(asked).toEqual([{ turnId: 't1', toolCallId: 'c1', background: false, ...input }]);
  });

  it('returns at once where the delegate works in the background', async () => {
    const own = delegates({ result: async () => Promise.reject(new Error('nobody waits')) });
    expect(await run('delegate', { prompt: 'look', background: true }, own)).toMatchObject({
      status: 'completed',
      text: expect.stringContaining('"scout" (loop1) works in the background'),
      rawOutput: { background: true },
    });
  });

  it('fails with how far it came where it did not come to its end, and with why it was refused', async () => {
    const cut = delegates({
      result: async () => ({ ...INFO, outcome: 'cancelled', text: 'half\n[Stopped]' }),
    });
    expect(await run('delegate', { prompt: 'look' }, cut)).toMatchObject({
      status: 'failed',
      text: 'The delegate "scout" (loop1) was cancelled: half\n[Stopped]',
    });
    const refusing = delegates({
      start: async () => {
        throw new DelegateError('delegate.too_deep', 'Too deep.');
      },
    });
    expect(await run('delegate', { prompt: 'look' }, refusing)).toMatchObject({
      status: 'failed',
      text: 'Too deep.',
    });
  });

  it('is refused where there can be none, and what is not understood before it begins', async () => {
    expect(await run('delegate', { prompt: 'look' })).toMatchObject({
      status: 'failed',
      text: 'There can be no delegates here. Do the work yourself.',
    });
    for (const input of [
      {},
      { prompt: '' },
      { prompt: 'x', mode: 'all' },
      { prompt: 'x'.repeat(192 * 1024 + 1) },
    ])
      expect(await run('delegate', input, delegates())).toMatchObject({
        error: expect.stringContaining('not valid'),
      });
  });
});

describe('the tools for delegates that are there', () => {
  it('send messages, list and stop', async () => {
    const own = delegates();
    const message = { loop_id: 'loop1', text: 'and there' };
    expect(await run('delegate_message', message, own)).toMatchObject({
      status: 'completed',
      text: expect.stringContaining('as request request2'),
      rawOutput: { loopId: 'loop1', requestId: 'request2', delivery: 'started' },
    });
    expect((await run('delegate_list', {}, own)) ?? {}).toMatchObject({
      text: 'loop1: "scout" is working',
    });
    expect(await run('delegate_list', {}, delegates({ list: () => [] }))).toMatchObject({
      text: 'There are none.',
    });
    expect(await run('delegate_stop', { loop_id: 'loop1' }, own)).toMatchObject({
      text: 'It is stopped.',
    });
  });
});
