import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  redo,
  rollBack,
  truncate,
} from '../../../../../src/core/host/controls/history/history-moves.ts';
import { foldSession } from '../../../../../src/core/host/fold-session.ts';
import { ControlRefused } from '../../../../../src/core/session/control/refusal.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  pathOf,
  type TestSession,
  textOf,
} from '../../../../support/engine/a-session.ts';
import { MemoryCheckpoints } from '../../../../support/engine/memory-checkpoints.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

type Step =
  | { readonly do: 'say' | 'write' | 'rollback' | 'redo' | 'restart' }
  | { readonly do: 'rollback to' | 'keep'; readonly share: number };

/** What a conversation is without branches, journals or folds: turns in a list, and lists that were left. */
class Model {
  /** Texts of each turn, complete or cut, and whether a rollback may name it. */
  turns: readonly { readonly texts: readonly string[]; readonly isWritten: boolean }[] = [];
  left: (typeof this.turns)[] = [];

  get texts(): readonly string[] {
    return this.turns.flatMap(({ texts }) => texts);
  }

  say(texts: readonly string[], isWritten: boolean): void {
    this.turns = [...this.turns, { texts, isWritten }];
    this.left = [];
  }

  rollback(index: number): boolean {
    if (index < 0 || index >= this.turns.length) return false;
    this.left.push(this.turns);
    this.turns = this.turns.slice(0, index);
    return true;
  }

  redo(): boolean {
    const back = this.left.pop();
    if (back === undefined) return false;
    this.turns = back;
    return true;
  }

  /** Messages, tool results included; false where a batch would be split. */
  keep(count: number): boolean {
    let left = count;
    const kept: (typeof this.turns)[number][] = [];
    for (const turn of this.turns) {
      if (left === 0) break;
      const messages = turn.texts.filter((text) => text !== 'cut');
      if (left < messages.length && messages[left - 1] === '(calls)') return false;
      kept.push({ ...turn, texts: messages.slice(0, left) });
      left -= Math.min(left, messages.length);
    }
    this.turns = kept;
    this.left = [];
    return true;
  }
}

function seen({ session }: TestSession): readonly string[] {
  return session.conversation.messages.map((message) => {
    if (message.role === 'tool') return '(results)';
    if (message.role === 'assistant') return message.calls.length > 0 ? '(calls)' : message.text;
    return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  });
}

async function refusedAs(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof ControlRefused) return error.refusal;
    throw error;
  }
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Step>({ do: 'say' }, { do: 'write' }) },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ do: 'rollback' }, { do: 'redo' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom<'rollback to' | 'keep'>('rollback to', 'keep'),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'restart' }) },
);

async function play(script: readonly Step[]): Promise<void> {
  const scripted = new ScriptedModel();
  const room = new MemoryCheckpoints();
  const write = aTool('write', (_context, input) => {
    room.files.set(pathOf(input), textOf(input));
    return ok('written');
  });
  let t = await aSession({ model: scripted, tools: [write], checkpoints: room });
  const model = new Model();
  for (const [index, step] of script.entries()) {
    const name = `turn ${index}`;
    const { session } = t;
    const idle = <T>(work: () => Promise<T>): Promise<T> => session.exclusively(work);
    switch (step.do) {
      case 'say':
        scripted.add(says(`said ${index}`));
        await t.prompt(name);
        model.say([name, `said ${index}`], false);
        break;
      case 'write':
        scripted.add(calls(['write', { path: 'a', text: name }]), says(`done ${index}`));
        await t.prompt(name);
        model.say([name, '(calls)', '(results)', `done ${index}`], true);
        break;
      case 'rollback': {
        const why = await refusedAs(idle(() => rollBack(session, { overwrite: 'all' }, OWNER)));
        expect(why).toBe(model.rollback(model.turns.length - 1) ? null : 'no_checkpoint');
        break;
      }
      case 'rollback to': {
        const here = session.timeline.checkpointsOn(session.timeline.branch);
        const at = Math.floor(step.share * here.length);
        const checkpointId = here[at]?.event.checkpointId;
        if (checkpointId === undefined) break;
        await idle(() => rollBack(session, { checkpointId, overwrite: 'all' }, OWNER));
        expect(model.rollback(at)).toBe(true);
        break;
      }
      case 'redo': {
        const why = await refusedAs(idle(() => redo(session, { overwrite: 'all' }, OWNER)));
        expect(why).toBe(model.redo() ? null : 'no_redo');
        break;
      }
      case 'keep': {
        const keepFirst = Math.round(step.share * session.conversation.messageCount);
        const why = await refusedAs(idle(() => truncate(session, { keepFirst }, OWNER)));
        expect(why).toBe(model.keep(keepFirst) ? null : 'splits_tool_batch');
        break;
      }
      case 'restart':
        t = await t.restart();
        break;
    }
    expect(seen(t)).toEqual(model.texts);
    const { conversation, state } = await foldSession(t.journal, 's1' as SessionId);
    expect(conversation.messages).toEqual(t.session.conversation.messages);
    expect(conversation.messageCount).toBe(t.session.conversation.messageCount);
    expect(state.timeline.undone).toEqual(t.session.timeline.undone);
    expect(state.timeline.reachable()).toEqual(t.session.timeline.reachable());
    expect(state.openTurn).toBeNull();
  }
}

test('a session that is moved back and forth is what a list of turns would be, live and restored', async () => {
  await fc.assert(fc.asyncProperty(fc.array(steps, { maxLength: 14 }), play), { numRuns: 60 });
}, 60_000);
