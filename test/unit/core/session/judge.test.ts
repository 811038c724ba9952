import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import { ModelError, type ModelRequest } from '../../../../src/core/session/model.ts';
import { JUDGE_SYSTEM } from '../../../../src/core/session/side/judge-prompt.ts';
import { readVerdict } from '../../../../src/core/session/side/verdict.ts';
import type { InjectMode } from '../../../../src/core/session/words.ts';
import { aSession, aTool, OWNER, ok, type TestSession } from '../../../support/engine/a-session.ts';
import {
  calls,
  fails,
  type Reply,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

const ON = { judge: 'same' };
const DONE = says('{"verdict":"done","reason":"All there","correction":null}');

function vetoes(correction: string): Reply {
  return says(JSON.stringify({ verdict: 'continue', reason: 'Not yet', correction }));
}

function inject(t: TestSession, mode: InjectMode, text: string) {
  return t.session.entries.inject({ mode, content: [{ type: 'text', text }], actor: OWNER });
}

function decisions(t: TestSession) {
  return t.history().filter((event): event is Extract<HistoryEvent, { type: 'judge_decision' }> => {
    return event.type === 'judge_decision';
  });
}

function looks(model: ScriptedModel): ModelRequest[] {
  return model.requests.filter(({ system }) => system === JUDGE_SYSTEM);
}

function textsOf(request: ModelRequest | undefined): string[] {
  const [message] = request?.messages ?? [];
  return message?.role === 'user'
    ? message.parts.map((part) => (part.type === 'text' ? part.text : part.type))
    : [];
}

/** What the agent's requests end with. */
function envelopes(t: TestSession): string[] {
  return t
    .history()
    .flatMap((event) => (event.type === 'directives_issued' ? event.directives : []))
    .map(({ authority, source, text }) => `${authority} ${source}: ${text}`);
}

describe('the completion judge', () => {
  it('is not asked while it is off', async () => {
    const model = new ScriptedModel(says('done'));
    const t = await aSession({ model });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
    expect(model.requests).toHaveLength(1);
    expect(decisions(t)).toEqual([]);
  });

  it('is told the objective and the answer, without tools, and its look is part of the turn', async () => {
    const model = new ScriptedModel(says('The answer'), DONE);
    const t = await aSession({ model, config: ON, tools: [aTool('work', () => ok(''))] });
    const outcome = await t.prompt('Do <it>');
    expect(outcome.terminal.kind).toBe('natural');
    expect(looks(model)).toMatchObject([{ tools: [] }]);
    expect(textsOf(looks(model)[0])).toEqual([
      '<objective>\nDo &lt;it>\n</objective>',
      '<final-answer>\nThe answer\n</final-answer>',
    ]);
    expect(decisions(t)).toMatchObject([
      { verdict: 'done', judge: 'scripted/one', reason: 'All there', correction: null },
    ]);
    expect(outcome.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
  });

  it('sends the agent back with a corrective directive', async () => {
    const model = new ScriptedModel(says('half'), vetoes('Do the rest'), says('whole'), DONE);
    const t = await aSession({ model, config: ON });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
    expect(envelopes(t)).toEqual([expect.stringMatching(/^corrective judge: .*\nDo the rest$/s)]);
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ origin: 'directives' });
    expect(decisions(t).map(({ verdict }) => verdict)).toEqual(['vetoed', 'done']);
  });

  it('that never agrees ends the turn unverified at the third veto, each one told anew', async () => {
    const again = vetoes('The same');
    const model = new ScriptedModel(says('1'), again, says('2'), again, says('3'), again);
    const t = await aSession({ model, config: ON });
    const { terminal, stopReason } = await t.prompt('go');
    expect(terminal).toMatchObject({ kind: 'completion_unverified', owner: 'policy' });
    expect(stopReason).toBe('end_turn');
    expect(envelopes(t)).toHaveLength(2);
    expect(decisions(t)).toHaveLength(3);
    model.add(says('next'), again, says('next 2'), DONE);
    await t.prompt('and now');
    expect(envelopes(t)).toHaveLength(3);
  });

  it('that takes longer than a minute ends the turn unverified', async () => {
    const asked = new Deferred<void>();
    const model = new ScriptedModel(
      says('x'),
      streamsForever('{', () => asked.resolve()),
    );
    const t = await aSession({ model, config: ON });
    const outcome = t.prompt('go');
    await asked.promise;
    t.clock.advance(59_999);
    expect(decisions(t)).toEqual([]);
    t.clock.advance(1);
    expect((await outcome).terminal.kind).toBe('completion_unverified');
    expect(decisions(t)).toMatchObject([{ verdict: 'failed' }]);
  });

  it.each([
    ['says nothing readable', () => says('I think so')],
    [
      'can not be reached',
      () => fails(new ModelError('model.unreachable', 'No line', { source: 'x', retryable: true })),
    ],
  ])('that %s is asked once more, then the turn ends unverified', async (_, bad) => {
    const model = new ScriptedModel(says('x'), bad(), DONE);
    const t = await aSession({ model, config: ON });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
    expect(decisions(t).map(({ verdict }) => verdict)).toEqual(['failed', 'done']);
    model.add(says('x'), bad(), bad());
    expect((await t.prompt('go')).terminal.kind).toBe('completion_unverified');
  });

  it('does not look at an answer that was cut off', async () => {
    const cut: Reply = async function* () {
      yield { type: 'text', text: 'x' };
      yield { type: 'finish', reason: 'length', usage: { inputTokens: 1, outputTokens: 1 } };
    };
    const model = new ScriptedModel(cut);
    const t = await aSession({ model, config: ON });
    expect((await t.prompt('go')).stopReason).toBe('max_tokens');
    expect(looks(model)).toEqual([]);
  });

  it('never keeps Stop waiting', async () => {
    const asked = new Deferred<void>();
    const model = new ScriptedModel(
      says('x'),
      streamsForever('', () => asked.resolve()),
    );
    const t = await aSession({ model, config: ON });
    const outcome = t.prompt('go');
    await asked.promise;
    t.session.cancelBefore(9, { kind: 'cancelled', by: 'test' });
    expect((await outcome).terminal.kind).toBe('user_cancelled');
    expect(model.requests).toHaveLength(2);
  });

  it('is dropped by an interrupt, which the agent then reads', async () => {
    const asked = new Deferred<void>();
    const model = new ScriptedModel(
      says('x'),
      streamsForever('', () => asked.resolve()),
      says('interrupted answer'),
      DONE,
    );
    const t = await aSession({ model, config: ON });
    const outcome = t.prompt('go');
    await asked.promise;
    await inject(t, 'interrupt_immediate', 'Something else');
    expect((await outcome).terminal.kind).toBe('natural');
    expect(decisions(t).map(({ verdict }) => verdict)).toEqual(['failed', 'done']);
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('Something else');
    expect(textsOf(looks(model)[1])[1]).toContain('Something else');
  });

  it('lets a steer that comes during a look go first, whatever it says', async () => {
    const asked = new Deferred<void>();
    const go = new Deferred<void>();
    const slow: Reply = async function* (request, signal) {
      asked.resolve();
      await go.promise;
      yield* DONE(request, signal);
    };
    const model = new ScriptedModel(says('x'), slow, says('steered answer'), DONE);
    const t = await aSession({ model, config: ON });
    const outcome = t.prompt('go');
    await asked.promise;
    await inject(t, 'steer', 'Use tabs');
    go.resolve();
    expect((await outcome).terminal.kind).toBe('natural');
    expect(t.history()).toContainEqual(
      expect.objectContaining({ type: 'inject_delivered', seam: 'iteration_end' }),
    );
    expect(model.requests).toHaveLength(4);
  });
});

describe('what a judge reads', () => {
  async function look(steer: string | null): Promise<ModelRequest | undefined> {
    const model = new ScriptedModel(calls(['work', {}]), says('answer'), DONE);
    const work = aTool('work', async () => {
      if (steer !== null) await inject(t, 'steer', steer);
      await inject(t, 'queue', 'FOR PEOPLE');
      return ok('');
    });
    const t: TestSession = await aSession({ model, config: ON, tools: [work] });
    await t.prompt('go');
    return looks(model)[0];
  }

  it('has a steering part only after a steer, behind a prefix that is the same to the byte', async () => {
    const plain = await look(null);
    const steered = await look('Use tabs');
    expect(textsOf(plain)).toHaveLength(2);
    expect(textsOf(plain).join('')).not.toMatch(/steer|supersede/);
    expect(textsOf(steered)).toHaveLength(3);
    expect(textsOf(steered)[1]).toMatch(/supersede[\s\S]*<steer>\nUse tabs\n<\/steer>/);
    expect(steered?.system).toBe(plain?.system);
    expect(textsOf(steered)[0]).toBe(textsOf(plain)[0]);
    expect(textsOf(steered)[2]).toBe(textsOf(plain)[1]);
  });

  it('never holds a note', async () => {
    expect(JSON.stringify(await look('Use tabs'))).not.toContain('FOR PEOPLE');
  });
});

describe('a verdict', () => {
  it.each([
    ['{"verdict":"done"}', { kind: 'done', reason: '' }],
    ['```json\n{"verdict":"done","reason":"ok"}\n```', { kind: 'done', reason: 'ok' }],
    [
      'Well:\n{"verdict":"continue","reason":"r","correction":"c {x}"} I hope',
      { kind: 'continue', reason: 'r', correction: 'c {x}' },
    ],
    [
      '{"verdict":"continue","reason":"r","correction":null}',
      { kind: 'continue', reason: 'r', correction: 'r' },
    ],
  ])('is read from %s', (text, verdict) => {
    expect(readVerdict(text)).toEqual(verdict);
  });

  it.each(['', 'done', '{', '}{', '{"verdict":"maybe"}', '{"verdict":"continue"}', '[]'])(
    'is not read from %s',
    (text) => {
      expect(readVerdict(text)).toBeNull();
    },
  );
});
