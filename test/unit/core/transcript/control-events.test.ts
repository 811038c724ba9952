import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import type {
  CheckpointId,
  InjectMode,
  MessageId,
  ToolCallId,
} from '../../../../src/core/session/words.ts';
import { renderTranscript } from '../../../../src/core/transcript/projection/render-transcript.ts';
import {
  ACTOR,
  created,
  delta,
  records,
  SESSION,
  TURN,
  turnEnded,
  turnStarted,
} from './history.ts';

function injected(mode: InjectMode, text: string): HistoryEvent {
  return {
    type: 'inject_delivered',
    turnId: TURN,
    messageId: 'm1' as MessageId,
    mode,
    content: [{ type: 'text', text }],
    seam: 'iteration_start',
    actor: ACTOR,
  };
}

function show(...events: readonly HistoryEvent[]): string {
  const history = records([created(), turnStarted('go'), ...events, turnEnded()]);
  return renderTranscript(SESSION, history).text;
}

describe('a delivered message', () => {
  it.each([
    ['steer', '### Steered by vscode · #3'],
    ['interrupt_immediate', '### Interrupted by vscode · #3'],
    ['queue', '### Note by vscode · the agent does not read it · #3'],
  ] as const)('of mode %s shows as what a person said', (mode, heading) => {
    const text = show(injected(mode, 'use tabs\n# not a heading'));
    expect(text).toContain(`${heading}\n\n\`\`\`text\nuse tabs\n# not a heading\n\`\`\`\n`);
  });

  it('is an entry of the outline, below its turn', () => {
    const history = records([created(), turnStarted('go'), injected('steer', 'use  tabs')]);
    const [turn] = renderTranscript(SESSION, history).symbols;
    expect(turn?.children).toMatchObject([{ name: 'Steered', detail: 'use tabs', kind: 'prompt' }]);
  });
});

describe('what stands behind the talk', () => {
  it('is hidden and still belongs to a part', () => {
    const history = records([
      created(),
      turnStarted('go'),
      delta('Hello'),
      {
        type: 'directives_issued',
        turnId: TURN,
        messageId: 'm2' as MessageId,
        seam: 'iteration_end',
        nonce: 'NONCE',
        directives: [
          { key: 'k', authority: 'contract', source: 'steer', text: 'HIDDEN', supersedes: null },
        ],
      },
      {
        type: 'turn_checkpoint',
        turnId: TURN,
        checkpointId: 'turn_1' as CheckpointId,
        onStack: true,
        beforeMessageCount: 0,
        afterMessageCount: 2,
        beforeEventId: 1,
        files: null,
      },
      turnEnded(),
    ]);
    const transcript = renderTranscript(SESSION, history);
    expect(transcript.text).not.toMatch(/NONCE|HIDDEN|turn_1/);
    const ids = transcript.parts.flatMap(({ events }) => events.map(({ id }) => id));
    expect(ids).toEqual(history.map(({ seq }) => seq));
  });
});

describe('a line', () => {
  it('says what the judge found and what it asked for', () => {
    const text = show({
      type: 'judge_decision',
      turnId: TURN,
      iteration: 1,
      judge: 'rehearsal/script',
      verdict: 'vetoed',
      reason: 'No tests',
      correction: '# Write tests',
      usage: { inputTokens: 1, outputTokens: 1 },
    });
    expect(text).toContain(
      '**Completion judge** asked for more · `rehearsal/script` · #3\n\n> No tests\n>\n> # Write tests\n',
    );
  });

  it('shows a compaction with its summary', () => {
    const text = show({
      type: 'compacted',
      turnId: TURN,
      messageId: 'm3' as MessageId,
      summary: 'It was long.',
      keptMessages: 2,
      beforeMessageCount: 40,
      afterMessageCount: 4,
    });
    expect(text).toContain('**Compacted** 40 messages to 4');
    expect(text).toContain('\n\n> It was long.\n');
  });

  it.each([
    ['rollback', 'Rolled back'],
    ['redo', 'Redone'],
    ['truncate', 'Cut off'],
  ] as const)('shows a %s with where it went, as a link', (reason, words) => {
    const moved: HistoryEvent = {
      type: 'history_moved',
      reason,
      to: 2,
      checkpointId: null,
      beforeMessageCount: 4,
      afterMessageCount: 1,
      files: {
        undo: 'x',
        restored: ['/w/a', '/w/b'],
        skipped: [{ path: '/w/c', reason: 'changed since' }],
      },
      actor: ACTOR,
    };
    const transcript = renderTranscript(SESSION, records([created(), turnStarted('go'), moved]));
    expect(transcript.text).toContain(
      `**${words}** to #2 by vscode · 2 files put back, 1 left as they are · #3\n\n> /w/c: changed since\n`,
    );
    expect(transcript.links.at(-1)?.target).toMatchObject({ kind: 'line' });
  });

  it('shows restored files', () => {
    const files = { undo: 'x', restored: ['/w/a'], skipped: [] };
    expect(
      show({
        type: 'files_restored',
        toolCallId: 'c' as ToolCallId,
        checkpointId: null,
        files,
        actor: ACTOR,
      }),
    ).toContain('**Files restored** as before a tool call by vscode · 1 file put back · #3\n');
  });
});
