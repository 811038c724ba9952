import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { foldSession } from '../../../../../src/core/host/fold-session.ts';
import type { CommandId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, fails, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;

type Case = {
  /** Which append of the turn Stop comes in front of or behind. */
  readonly append: number;
  readonly when: 'before' | 'after';
  readonly steers: number;
};

/** Ids of commands by what they came to, in the order of the records. */
function resolutions(t: TestSession): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { record } of t.journal.records.get(t.session.sessionId) ?? []) {
    const { event } = record;
    if (event.type !== 'command_resolved') continue;
    found.set(event.commandId, [...(found.get(event.commandId) ?? []), event.resolution]);
  }
  return found;
}

/** One turn with a tool, during which messages and a prompt arrive; Stop comes around one of its appends. */
async function run({
  append,
  when,
  steers,
}: Case): Promise<{ t: TestSession; accepted: string[]; stopped: boolean }> {
  const accepted: string[] = [];
  const begun = new Deferred<void>();
  const goOn = new Deferred<void>();
  const t = await aSession({
    model: new ScriptedModel(calls(['w', {}]), says('read'), says('more'), says('and more')),
    tools: [
      aTool('w', async () => {
        begun.resolve();
        await goOn.promise;
        return ok('x');
      }),
    ],
  });
  const outcome = t.prompt('go', 1, 'first');
  await begun.promise;
  const waits = t.prompt('later', 2, 'second');
  for (let n = 0; n < steers; n += 1) {
    const commandId = `steer ${n}` as CommandId;
    const content = [{ type: 'text', text: commandId }] as const;
    await t.session.entries.inject({ mode: 'steer', content, actor: OWNER, commandId });
    accepted.push(commandId);
  }
  const store = t.journal.append.bind(t.journal);
  let left = append;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    t.session.cancelBefore(9, STOP);
  };
  t.journal.append = async (sessionId, records) => {
    left -= 1;
    const isIt = left === -1;
    if (isIt && when === 'before') stop();
    const kept = await store(sessionId, records);
    if (isIt && when === 'after') stop();
    return kept;
  };
  goOn.resolve();
  await Promise.all([outcome, waits]);
  return { t, accepted: ['first', 'second', ...accepted], stopped };
}

describe('Stop while messages are being delivered', () => {
  it('leaves every input with exactly one end, wherever it comes, and what is folded anew is the same', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          append: fc.nat(16),
          when: fc.constantFrom('before', 'after'),
          steers: fc.nat(3),
        }),
        async (one) => {
          const { t, accepted, stopped } = await run(one);
          const ends = resolutions(t);
          for (const commandId of accepted) {
            expect([commandId, ends.get(commandId)?.length]).toEqual([commandId, 1]);
            if (stopped) seen.add(`${commandId.split(' ')[0]} ${ends.get(commandId)?.[0]}`);
          }
          const delivered = t
            .history()
            .flatMap((event) => (event.type === 'inject_delivered' ? [event.messageId] : []));
          expect(new Set(delivered).size).toBe(delivered.length);
          const folded = [...ends].filter(([, [how]]) => how === 'folded');
          expect(folded).toHaveLength(delivered.length);
          expect(t.session.entries.pending()).toEqual([]);
          const { conversation } = await foldSession(t.journal, t.session.sessionId);
          expect(conversation.messages).toEqual(t.session.conversation.messages);
        },
      ),
      { numRuns: 200 },
    );
    // Stop came early enough to take back what waited, and late enough not to.
    expect([...seen].sort()).toEqual([
      'first started',
      'second cancelled',
      'second started',
      'steer cancelled',
      'steer folded',
    ]);
  });
});

describe('an idle session', () => {
  it('that is stopped has nothing more in its history, and answers that nothing ran', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done')) });
    await t.prompt('go');
    const { tip } = t.session;
    const origin = { actor: OWNER, agency: 'user' } as const;
    const { ended, recorded } = t.session.cancel(9, STOP, origin);
    await recorded;
    expect(ended).toBe(false);
    expect(t.session.tip).toEqual(tip);
    const kept = t.journal.records.get(t.session.sessionId) ?? [];
    expect(kept.slice(-2).map(({ stream, record }) => [stream, record.event.type])).toEqual([
      ['control', 'command_issued'],
      ['control', 'command_resolved'],
    ]);
  });
});

describe('prompts that wait', () => {
  it('begin in their order behind a turn that failed, each a turn of its own', async () => {
    const begun = new Deferred<void>();
    const goOn = new Deferred<void>();
    const model = new ScriptedModel(
      async function* (request, signal) {
        begun.resolve();
        await goOn.promise;
        yield* fails(new Error('no'))(request, signal);
      },
      says('two'),
      says('three'),
    );
    const t = await aSession({ model });
    const one = t.prompt('one', 1);
    await begun.promise;
    const [two, three] = [t.prompt('two', 2), t.prompt('three', 3)];
    goOn.resolve();
    expect((await one).terminal.kind).toBe('provider_error');
    expect((await two).terminal.kind).toBe('natural');
    expect((await three).terminal.kind).toBe('natural');
    const order = t
      .history()
      .flatMap((event) => (event.type === 'turn_started' ? [event.commandId] : []));
    expect(order).toEqual(['c1', 'c2', 'c3']);
    expect([...resolutions(t).values()]).toEqual([['started'], ['started'], ['started']]);
  });
});
