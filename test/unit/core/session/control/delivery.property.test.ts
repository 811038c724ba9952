import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../../../src/core/session/model.ts';
import { INJECT_MODES, type InjectMode } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, type Reply, ScriptedModel } from '../../../../support/engine/scripted-model.ts';

/** Where in a turn somebody acts: while a reply streams, or while a tool runs. */
type Moment = { readonly injects: readonly InjectMode[]; readonly stop: boolean };
type Round = { readonly tools: number; readonly reply: Moment; readonly tool: Moment };

const moment: fc.Arbitrary<Moment> = fc.record({
  injects: fc.array(fc.constantFrom(...INJECT_MODES), { maxLength: 3 }),
  stop: fc.nat(30).map((n) => n === 0),
});
const round: fc.Arbitrary<Round> = fc.record({
  tools: fc.nat(3),
  reply: moment,
  tool: moment,
});

class Run {
  readonly accepted = new Map<string, InjectMode>();
  readonly model = new ScriptedModel();
  t: TestSession | null = null;
  readonly #rounds: Round[];
  #round: Round | undefined;
  #ran = 0;

  constructor(rounds: Round[]) {
    this.#rounds = rounds;
  }

  async start(): Promise<void> {
    const again: Reply = (request, signal) => this.#reply(request, signal);
    for (let n = 0; n < 60; n += 1) this.model.add(again);
    this.t = await aSession({
      model: this.model,
      tools: [
        aTool('work', async () => {
          this.#ran += 1;
          if (this.#ran === 1 && this.#round) await this.#act(this.#round.tool);
          return ok('');
        }),
      ],
    });
    await this.t.prompt('go');
  }

  async *#reply(...[request, signal]: Parameters<Reply>): ReturnType<Reply> {
    const now = this.#rounds.shift();
    this.#round = now;
    this.#ran = 0;
    yield { type: 'text', text: `reply ${request.messages.length}` };
    if (now !== undefined) await this.#act(now.reply);
    if (signal.aborted) return;
    if (now !== undefined && now.tools > 0)
      yield* calls(
        ...Array.from({ length: now.tools }, () => ['work', {}] as [string, object] as never),
      )(request, signal);
    else yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
  }

  async #act({ injects, stop }: Moment): Promise<void> {
    for (const mode of injects) {
      const text = `${mode} number ${this.accepted.size}`;
      const sent = this.t?.session.entries.inject({
        mode,
        content: [{ type: 'text', text }],
        actor: OWNER,
      });
      // A turn that is being stopped takes no more: that is a refusal, and nothing was promised.
      await sent?.then(
        () => this.accepted.set(text, mode),
        () => undefined,
      );
    }
    if (stop) this.t?.session.cancelBefore(99, { kind: 'cancelled', by: 'test' });
  }
}

function isPrefix(a: readonly ModelMessage[], b: readonly ModelMessage[]): boolean {
  return a.every((message, index) => JSON.stringify(message) === JSON.stringify(b[index]));
}

describe('messages for a running turn', () => {
  it('end exactly once each, in order, and never break what the model was already sent', async () => {
    let deliveries = 0;
    let returns = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 6 }), async (rounds) => {
        const run = new Run([...rounds]);
        await run.start();
        const history = run.t?.history() ?? [];
        const delivered = history.flatMap((event) =>
          event.type === 'inject_delivered' ? [event] : [],
        );
        const texts = delivered.map(({ content: [block] }) =>
          block?.type === 'text' ? block.text : '',
        );
        const back = (run.t?.signals ?? []).filter(
          (signal) => signal.stream === 'control' && signal.record.event.type === 'inject_revoked',
        );
        deliveries += texts.length;
        returns += back.length;
        expect(new Set(texts).size).toBe(texts.length);
        expect(texts.length + back.length).toBe(run.accepted.size);
        expect(run.t?.session.entries.pending()).toEqual([]);
        const steers = [...run.accepted].flatMap(([text, mode]) =>
          mode === 'steer' ? [text] : [],
        );
        const arrived = texts.filter((text) => steers.includes(text));
        expect(arrived).toEqual(steers.slice(0, arrived.length));
        const { requests } = run.model;
        for (const [index, request] of requests.entries()) {
          const next = requests[index + 1];
          if (next !== undefined) expect(isPrefix(request.messages, next.messages)).toBe(true);
        }
        const notes = [...run.accepted.keys()].filter((text) => text.startsWith('queue'));
        const said = JSON.stringify(requests);
        for (const note of notes) expect(said).not.toContain(`${note}"`);
      }),
      { numRuns: 150 },
    );
    expect(deliveries).toBeGreaterThan(100);
    expect(returns).toBeGreaterThan(0);
  });
});
