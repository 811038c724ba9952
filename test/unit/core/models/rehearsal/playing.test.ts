import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOf } from '../../../../../src/core/models/rehearsal/play.ts';
import { createRehearsalSource } from '../../../../../src/core/models/rehearsal/rehearsal-source.ts';
import { ModelError, type ModelMessage } from '../../../../../src/core/session/model.ts';
import { collect, LeapingClock, ManualClock, rejection, request, user } from '../fakes.ts';
import { drive, rehearsal, replyOf, texts } from './drive.ts';

describe('the time a reply takes', () => {
  it('is at least 0.6 s in several chunks for a text', async () => {
    const clock = new LeapingClock();
    const events = await collect(
      await rehearsal('script', clock),
      request([user('say hello there')]),
    );
    expect(events.filter((event) => event.type === 'text').length).toBeGreaterThanOrEqual(4);
    expect(Math.round(clock.elapsed)).toBe(600);
  });

  it('is what `wait` asked for, with a word before it', async () => {
    const clock = new LeapingClock();
    const events = await collect(await rehearsal('script', clock), request([user('wait 2.5')]));
    expect(replyOf(events).text).toBe('Waiting 2.5 s … done.');
    expect(clock.elapsed).toBe(2_500);
  });

  it('is 150 ms a number when it counts, up or down', async () => {
    const clock = new LeapingClock();
    const model = await rehearsal('script', clock);
    const up = await collect(model, request([user('count slowly from 1 to 3')]));
    expect(up.slice(0, -1)).toEqual([
      { type: 'text', text: '1\n' },
      { type: 'text', text: '2\n' },
      { type: 'text', text: '3\n' },
    ]);
    expect(clock.elapsed).toBe(450);
    const down = await collect(model, request([user('count slowly from 1 to -1')]));
    expect(replyOf(down).text).toBe('1\n0\n-1\n');
  });

  it('does not break characters when it cuts a text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const chunks = chunksOf(text);
        expect(chunks.join('')).toBe(text);
        expect(chunks.every((chunk) => chunk.isWellFormed())).toBe(true);
      }),
    );
  });

  it('is none for the instant variant, which also streams chunks', async () => {
    const source = createRehearsalSource({ clock: new ManualClock(), listInstant: true });
    expect((await source.list()).map((info) => info.id)).toEqual([
      'rehearsal/script',
      'rehearsal/instant',
    ]);
    const model = await rehearsal('instant');
    const said = await texts('wait 30\ncount slowly from 1 to 2\nsay a', { model });
    expect(said).toEqual(['Waiting 30 s … done.', '1\n2\n', 'a', 'Done: 3 steps, 0 failed.']);
    const events = await collect(model, request([user('stream 1000 chunks')]));
    expect(events.filter((event) => event.type === 'text')).toHaveLength(1_000);
  });

  it('lists the instant variant only when asked to', async () => {
    const source = createRehearsalSource({ clock: new LeapingClock() });
    expect((await source.list()).map((info) => info.id)).toEqual(['rehearsal/script']);
    expect(await source.resolve('other', { sessionId: request([]).sessionId })).toBeNull();
  });
});

describe('stopping a reply', () => {
  it.each(['wait 30', 'say hello', 'count slowly from 1 to 9'])('%s ends at once', async (line) => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const source = createRehearsalSource({ clock });
    const model = await source.resolve('script', { sessionId: request([]).sessionId });
    if (model === null) throw new TypeError('no model');
    const failed = rejection(collect(model, request([user(line)]), abort.signal));
    while (clock.sleeping === 0) await Promise.resolve();
    abort.abort();
    const error = await failed;
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: 'model.cancelled', source: 'rehearsal' });
    expect(clock.sleeping).toBe(0);
  });

  it('that was stopped before it began sends nothing', async () => {
    const model = await rehearsal('instant');
    const error = await rejection(collect(model, request([user('say a')]), AbortSignal.abort()));
    expect(error).toMatchObject({ code: 'model.cancelled' });
  });
});

describe('a line that fails', () => {
  it.each([
    ['429', { code: 'model.rate_limited', retryable: true, status: 429, retryAfterMs: 250 }],
    ['500', { code: 'model.failed', retryable: true, status: 500 }],
    ['503', { code: 'model.overloaded', retryable: true, status: 503 }],
    ['401', { code: 'model.key_refused', retryable: false, status: 401 }],
    ['400', { code: 'model.bad_request', retryable: false, status: 400 }],
    ['cut', { code: 'model.stream_cut', retryable: true }],
    ['cut stream', { code: 'model.stream_cut', retryable: true }],
    ['timeout', { code: 'model.timeout', retryable: true }],
  ])('with %s throws on its first attempt and passes on the second', async (how, expected) => {
    const model = await rehearsal();
    const messages = [user(`fail with ${how}`)];
    expect(await rejection(collect(model, request(messages)))).toMatchObject(expected);
    const second = replyOf(await collect(model, request(messages, { attempt: 2 })));
    expect(second).toMatchObject({ reason: 'pause', text: expect.stringContaining('passed') });
    const { replies } = await drive([...messages], { changes: { attempt: 2 } });
    expect(replies.at(-1)?.text).toBe('Done: 1 steps, 0 failed.');
  });
});

const VERBS = [
  'say',
  'think',
  'reply with exactly:',
  'read',
  'list',
  'search',
  'write',
  'replace',
  'run',
  'start',
  'ask',
  'delegate:',
  'plan:',
  'call',
  'together:',
  'wait',
  'count slowly from',
  'finish with',
  'create a file named',
];
const PIECES = [
  '"',
  "'",
  '`',
  '\\',
  ' with ',
  ' in ',
  ': ',
  ' ; ',
  '{"a":1}',
  '7',
  ' to ',
  '-',
  '😀',
];

const line = fc
  .tuple(
    fc.constantFrom('', '- ', '1. '),
    fc.constantFrom('', ...VERBS),
    fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 5 })), {
      maxLength: 6,
    }),
  )
  .map(([bullet, verb, rest]) => `${bullet}${verb} ${rest.join('')}`);
const script = fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n'));
const delivered = fc.tuple(script, fc.constantFrom('steer' as const, 'interrupt' as const));

describe('any script', () => {
  it('finishes, never throws, and does the same for the same request', async () => {
    const model = await rehearsal('instant');
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.dictionary(fc.constantFrom('1', '2', '3'), fc.array(delivered, { maxLength: 2 })),
        fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
        async (prompt, injected, status) => {
          const after: Record<number, ModelMessage[]> = {};
          for (const [key, list] of Object.entries(injected)) {
            after[Number(key)] = list.map(([text, origin]) => user(text, origin));
          }
          const options = { model, after, tools: () => ({ status }) };
          const first = await drive(prompt, options);
          const second = await drive(prompt, options);
          expect(second).toEqual(first);
          const ids = first.replies.flatMap((reply) => reply.calls.map((call) => call.toolCallId));
          expect(new Set(ids).size).toBe(ids.length);
          expect(
            first.replies.every(
              (reply) => reply.text + reply.thought !== '' || reply.calls.length > 0,
            ),
          ).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
