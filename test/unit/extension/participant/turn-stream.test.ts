import { describe, expect, it } from 'vitest';
import { TurnStream } from '../../../../src/extension/participant/turn-stream.ts';
import type { ChatItem, ChatTool } from '../../../../src/protocol/chat.ts';

const PROMPT: ChatItem = { kind: 'user', id: 'prompt:2', at: 0, text: 'do it', attachments: [] };
const END: ChatItem = {
  kind: 'turn_end',
  id: 'end:2',
  stopReason: 'end_turn',
  terminal: 'natural',
  reason: '',
  seconds: 1,
};

function message(text: string, id = 'assistant:1'): ChatItem {
  return { kind: 'assistant', id, text, streaming: true };
}

function tool(status: ChatTool['status'], patch: Partial<ChatTool> = {}): ChatItem {
  return {
    kind: 'tool',
    id: 'call',
    title: 'Edit a.ts',
    name: 'edit',
    toolKind: 'edit',
    status,
    input: '',
    locations: [],
    diffs: [],
    output: '',
    outputCut: 0,
    images: [],
    ...patch,
  };
}

class Bench {
  readonly told: string[] = [];
  readonly turn = new TurnStream('do it', {
    text: (text) => this.told.push(text),
    progress: (line) => this.told.push(`(${line})`),
    reference: (path, line) => this.told.push(`[${path}:${line}]`),
  });

  items(...items: ChatItem[]): boolean {
    return this.turn.take({ kind: 'chat', changes: [{ type: 'upsert', items }] });
  }

  append(offset: number, text: string, id = 'assistant:1'): void {
    this.turn.take({
      kind: 'chat',
      changes: [{ type: 'append', id, field: 'text', offset, text }],
    });
  }
}

describe('the stream of a turn', () => {
  it('tells every character of its messages once, whatever is repeated', () => {
    const bench = new Bench();
    bench.items(PROMPT, message('One'));
    bench.append(3, ' two');
    bench.append(3, ' two three');
    bench.items(message('One two three.'));
    bench.items(message('One two three.'));
    expect(bench.told.join('')).toBe('One two three.');
    bench.items(message('Next', 'assistant:2'));
    expect(bench.told.join('')).toBe('One two three.\n\nNext');
    bench.append(4, '!', 'assistant:2');
    expect(bench.told.join('')).toBe('One two three.\n\nNext!');
  });

  it('leaves out what other turns do before its own prompt', () => {
    const bench = new Bench();
    bench.items({ ...PROMPT, text: 'another' }, message('not mine'), tool('in_progress'));
    bench.append(8, ' at all');
    expect(bench.items({ ...END, id: 'end:1' })).toBe(false);
    expect(bench.turn.take({ kind: 'turn_ended', stopReason: 'end_turn', failed: false })).toBe(
      false,
    );
    expect(bench.told).toEqual([]);
    bench.items(PROMPT, message('mine', 'assistant:9'));
    expect(bench.items(END)).toBe(true);
    expect(bench.told).toEqual(['mine']);
  });

  it('tells a call once, its failure, and the files it touched', () => {
    const bench = new Bench();
    const diffs = [{ path: '/a.ts', added: 1, removed: 0, isNew: false, lines: [], cut: false }];
    bench.items(PROMPT, tool('pending'), tool('in_progress'));
    bench.items(tool('completed', { locations: [{ path: '/a.ts', line: 3 }], diffs }));
    bench.items(tool('denied', { id: 'other', title: 'Run rm' }));
    expect(bench.told).toEqual(['(Edit a.ts)', '[/a.ts:3]', '(Run rm)', '(Run rm: denied)']);
    bench.items(END);
    expect(bench.turn.outcome).toEqual({ stopReason: 'end_turn', problem: null, hasChanges: true });
  });

  it('says why a turn failed, and that it was stopped', () => {
    const failed = new Bench();
    failed.items(PROMPT, {
      ...END,
      kind: 'turn_end',
      terminal: 'provider_error',
      reason: 'HTTP 500',
    } as ChatItem);
    expect(failed.turn.outcome?.problem).toBe('HTTP 500');
    const stopped = new Bench();
    stopped.items(PROMPT, {
      ...END,
      stopReason: 'cancelled',
      terminal: 'user_cancelled',
    } as ChatItem);
    expect(stopped.turn.outcome).toMatchObject({ stopReason: 'cancelled', problem: null });
  });

  it('tells nothing after its end', () => {
    const bench = new Bench();
    bench.items(PROMPT, END, message('late'));
    expect(bench.told).toEqual([]);
  });
});
