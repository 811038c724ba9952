import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { ControlRefused } from '../../../../../src/core/session/control/refusal.ts';
import type { QueueItemId } from '../../../../../src/core/session/words.ts';
import { aSession, OWNER, type TestSession } from '../../../../support/engine/a-session.ts';
import type { Reply } from '../../../../support/engine/scripted-model.ts';
import { ScriptedModel } from '../../../../support/engine/scripted-model.ts';

const NAMES = ['a', 'b', 'd', 'e', 'f'] as const;
const id = (name: string): QueueItemId => name as QueueItemId;
const name = fc.constantFrom(...NAMES);

/** What people and turns may do, in any order. */
const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add'), name, before: fc.option(name) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move'), name, before: fc.option(name) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('send_now'), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('finish') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prompt') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart') }) },
);
type Step = { kind: string; name?: string; before?: string | null };

/** A model whose replies end when they are told to. */
function obedient() {
  const open: Deferred<'stop' | 'other'>[] = [];
  const reply: Reply = async function* (_request, signal) {
    const told = new Deferred<'stop' | 'other'>();
    open.push(told);
    signal.addEventListener('abort', () => told.resolve('stop'));
    const reason = await told.promise;
    yield { type: 'text', text: 'x' };
    yield { type: 'finish', reason, usage: { inputTokens: 0, outputTokens: 0 } };
  };
  const model = new ScriptedModel(...Array.from({ length: 80 }, () => reply));
  return {
    model,
    end: (reason: 'stop' | 'other') => open.at(-1)?.resolve(reason),
    begun: () => open.length,
  };
}

function fail(failure: unknown): never {
  throw failure;
}

/** Everything that is on its way is done: no timer is involved, so a few rounds of the loop are enough. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 3; round += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** The queue as a person would keep it on paper. */
class Paper {
  items: string[] = [];
  readonly used = new Set<string>();
  readonly sent: string[] = [];
  readonly removed = new Set<string>();
  isPaused = false;
  running: string | null = null;

  place(who: string, before: string | null | undefined): void {
    this.items = this.items.filter((other) => other !== who);
    const at = before === null || before === undefined ? -1 : this.items.indexOf(before);
    this.items.splice(at === -1 ? this.items.length : at, 0, who);
  }

  take(who: string): void {
    this.items = this.items.filter((other) => other !== who);
    this.sent.push(who);
    this.running = who;
  }

  idle(): void {
    this.running = null;
    const [next] = this.items;
    if (!this.isPaused && next !== undefined) this.take(next);
  }

  pauseIfHeld(): void {
    if (this.items.length > 0) this.isPaused = true;
  }

  add(who: string, before: string | null | undefined): boolean {
    if (this.used.has(who)) return true;
    if (!this.isPlace(before)) return false;
    this.used.add(who);
    this.place(who, before);
    if (this.running === null) this.idle();
    return true;
  }

  isPlace(before: string | null | undefined): boolean {
    return before === null || before === undefined || this.items.includes(before);
  }

  /** Asks for something about the queue; false if it is to be refused. */
  follow({ kind, name: who = '', before }: Step): boolean {
    if (kind === 'add') return this.add(who, before);
    if (kind === 'pause' || kind === 'resume') {
      this.isPaused = kind === 'pause';
      if (this.running === null) this.idle();
      return true;
    }
    if (!this.items.includes(who) || !this.isPlace(before)) return false;
    if (kind === 'send_now') this.take(who);
    else if (kind === 'move' && before !== who) this.place(who, before);
    else if (kind === 'remove') {
      this.items = this.items.filter((other) => other !== who);
      this.removed.add(who);
    }
    return true;
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  let control = obedient();
  let t: TestSession = await aSession({ model: control.model });
  const paper = new Paper();
  const begun: string[] = [];
  const note = (session: TestSession): void => {
    session.session.subscribe((signal) => {
      if (signal.stream !== 'history' || signal.record.event.type !== 'turn_started') return;
      const commandId = String(signal.record.event.commandId);
      if (!commandId.startsWith('c')) begun.push(commandId);
    });
  };
  note(t);
  let order = 0;
  for (const step of steps) {
    if (step.kind === 'finish' || step.kind === 'fail') {
      if (paper.running !== null) {
        if (step.kind === 'fail') paper.pauseIfHeld();
        control.end(step.kind === 'fail' ? 'other' : 'stop');
        paper.idle();
      }
    } else if (step.kind === 'stop') {
      paper.pauseIfHeld();
      order += 1;
      t.session.cancelBefore(order, { kind: 'cancelled', by: 'test' });
      if (paper.running !== null) paper.idle();
    } else if (step.kind === 'prompt') {
      if (paper.running === null) {
        paper.running = 'direct';
        order += 1;
        t.prompt('direct', order, `c${order}`).catch(fail);
      }
    } else if (step.kind === 'restart') {
      paper.pauseIfHeld();
      paper.running = null;
      control = obedient();
      t = await t.restart({ model: control.model });
      note(t);
    } else {
      const expected = paper.follow(step);
      const done = t.session.entries.changeQueue(requestOf(step), OWNER).then(
        () => true,
        (failure: unknown) => {
          if (failure instanceof ControlRefused) return false;
          throw failure;
        },
      );
      expect(await done).toBe(expected);
    }
    await quiet();
    const { items, paused } = t.session.entries.nextTurns();
    expect(items.map(({ itemId }) => itemId)).toEqual(paper.items);
    expect(paused !== null).toBe(paper.isPaused);
    expect(begun).toEqual(paper.sent);
    expect(t.session.isActive).toBe(paper.running !== null);
  }
  // Each item is in exactly one place.
  expect([...paper.items, ...begun, ...paper.removed].toSorted()).toEqual(
    [...paper.used].toSorted(),
  );
}

function requestOf({ kind, name: who = '', before }: Step) {
  const itemId = id(who);
  const place = before === null || before === undefined ? null : id(before);
  switch (kind) {
    case 'add':
      return { kind, itemId, content: [{ type: 'text', text: who }], before: place } as const;
    case 'move':
      return { kind, itemId, before: place } as const;
    case 'remove':
    case 'send_now':
      return { kind, itemId } as const;
    case 'pause':
      return { kind } as const;
    default:
      return { kind: 'resume' } as const;
  }
}

it('sends every held message once and in the order asked for, whatever happens around it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 4, maxLength: 25 }), (steps) => play(steps)),
    { numRuns: 400 },
  );
}, 60_000);
