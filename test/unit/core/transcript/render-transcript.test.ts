import * as fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { partAt } from '../../../../src/core/transcript/projection/assemble.ts';
import { Projection } from '../../../../src/core/transcript/projection/projection.ts';
import { renderTranscript } from '../../../../src/core/transcript/projection/render-transcript.ts';
import {
  created,
  delta,
  output,
  permissionOpened,
  proposed,
  records,
  SESSION,
  sampleHistory,
  started,
  turnEnded,
  turnStarted,
} from './history.ts';

const markdown = new MarkdownIt({ html: true, linkify: true });

/** The headings that stand in the document itself, not inside a quote or a fence. */
function headings(text: string): string[] {
  const tokens = markdown.parse(text, {});
  return tokens.flatMap((token, index) =>
    token.type === 'heading_open' && token.level === 0 ? [tokens[index + 1]?.content ?? ''] : [],
  );
}

/** Text that tries to leave whatever it is put into. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '```',
        '````',
        '~~~',
        '`',
        '\n',
        '\r',
        '\r\n',
        '\n\n',
        '> ',
        '# Turn 2',
        '## Turn 2 · #9',
        '---',
        '===',
        '<!--',
        '-->',
        '<script>',
        '<pre>',
        '</pre>',
        '</details>',
        '    ',
        '\t',
        '|',
        '- ',
        '1. ',
        '\\',
        '[x]: http://e',
        '[x](command:boom)',
        '\u2028',
        '\u0085',
        '\u001b[31m',
        '$$',
        '&lt;',
        '\0',
      ),
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(''));

describe('renderTranscript', () => {
  it('is the document that the history says', async () => {
    await expect(renderTranscript(SESSION, sampleHistory()).text).toMatchFileSnapshot(
      './fixtures/sample.md',
    );
  });

  it('lets no foreign text leave its place', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (a, b, c) => {
        const history = records([
          created(),
          { type: 'title_changed', title: a },
          turnStarted(b),
          delta(c, 0, 'thought'),
          proposed('run', { command: a, [b]: c }),
          permissionOpened(b, c),
          started(),
          output(a),
          delta(b),
          { type: 'notice', severity: 'info', title: c, description: a },
          turnEnded(),
        ]);
        const { text } = renderTranscript(SESSION, history);
        expect(
          headings(text)
            .slice(1)
            .map((heading) => heading.replace(/ ·.*/su, '')),
        ).toEqual(['Turn 1', 'Thought', 'Tool `run`', 'Approval', 'Agent']);
        expect(text).not.toMatch(/\r/);
        const tokens = markdown.parse(text, {});
        const html = tokens.filter(({ type, level }) => type === 'html_block' && level === 0);
        expect(html).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('notices an output that would escape without a longer fence (control)', () => {
    const naive = '```text\n```\n## Turn 2\n```\n';
    expect(headings(naive)).toEqual(['Turn 2']);
  });

  it('gives the same document in one go and piece by piece', () => {
    const history = sampleHistory();
    const projection = new Projection(SESSION);
    for (const record of history) {
      projection.apply(record);
      projection.transcript();
      projection.apply(record);
    }
    expect(projection.transcript()).toEqual(renderTranscript(SESSION, history));
  });

  it('puts every event into exactly one part, and the parts cover all lines', () => {
    const history = sampleHistory();
    const transcript = renderTranscript(SESSION, history);
    const ids = transcript.parts.flatMap(({ events }) => events.map(({ id }) => id));
    expect(ids.toSorted((a, b) => a - b)).toEqual(history.map(({ seq }) => seq));
    expect(transcript.text.split('\n').length - 1).toBe(transcript.lineCount);
    for (let line = 0; line < transcript.lineCount; line += 1)
      expect(partAt(transcript, line)).not.toBeNull();
    expect(partAt(transcript, transcript.lineCount)).toBeNull();
  });

  it('puts links on the text they name', () => {
    const transcript = renderTranscript(SESSION, sampleHistory());
    const lines = transcript.text.split('\n');
    const named = transcript.links.map(({ line, start, end, target }) => [
      lines[line]?.slice(start, end),
      target,
    ]);
    const callLine = lines.findIndex((line) => line.startsWith('### Tool `write`'));
    expect(named).toEqual([
      ['`/work/project`', { kind: 'file', path: '/work/project', line: null }],
      ['`/work/project/a b.ts:12`', { kind: 'file', path: '/work/project/a b.ts', line: 12 }],
      ['`/work/project/a.ts`', { kind: 'file', path: '/work/project/a.ts', line: null }],
      ['#5', { kind: 'line', line: callLine }],
    ]);
  });

  it('folds whole fences and quotes', () => {
    const long = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    const transcript = renderTranscript(
      SESSION,
      records([
        created(),
        turnStarted('go'),
        proposed('run'),
        started(),
        output(long),
        turnEnded(),
      ]),
    );
    const lines = transcript.text.split('\n');
    expect(transcript.folds.map(({ start, end }) => [lines[start], lines[end]])).toEqual([
      ['```text', '```'],
    ]);
  });

  it('says what became of calls that the turn left open', () => {
    const open = [
      created(),
      turnStarted('go'),
      proposed('run'),
      proposed('write', {}, 'call-2'),
      started(),
    ];
    expect(headings(renderTranscript(SESSION, records(open)).text)).toEqual([
      'Session',
      'Turn 1 · 2026-11-02 13:00:02 UTC · #2',
      'Tool `run` · running · #3, #5',
      'Tool `write` · proposed · #4',
    ]);
    const over = renderTranscript(SESSION, records([...open, turnEnded()])).text;
    expect(headings(over).slice(2)).toEqual([
      'Tool `run` · outcome unknown · #3, #5',
      'Tool `write` · not run · #4',
    ]);
  });

  it('keeps both ends of a very long output and says what is missing', () => {
    const transcript = renderTranscript(
      SESSION,
      records([
        created(),
        turnStarted('go'),
        proposed('run'),
        started(),
        output(`begin${'x'.repeat(5_000_000)}end`),
        turnEnded(),
      ]),
    );
    expect(transcript.text.length).toBeLessThan(250_000);
    expect(transcript.text).toContain('begin');
    expect(transcript.text).toContain('4800008 characters left out');
    expect(transcript.text).toContain('end\n```');
  });
});
