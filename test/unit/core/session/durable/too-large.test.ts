import { describe, expect, it } from 'vitest';
import type { QueueItemId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;
/** Fewer UTF-16 units than the limit, and more bytes. */
const WIDE = '€'.repeat(6 * 1024 * 1024);
const content = [{ type: 'text', text: WIDE }] as const;
const ITEM = 'item' as QueueItemId;
const small = [{ type: 'text', text: 'hello' }] as const;

/** What a client may send that holds as much as it likes. */
const COMMANDS: { readonly [name: string]: (t: TestSession) => Promise<unknown> } = {
  'a prompt': (t) => t.prompt(WIDE),
  'a message': (t) => t.session.entries.inject({ mode: 'steer', content, actor: OWNER }),
  'an item of the queue': (t) =>
    t.session.entries.changeQueue({ kind: 'add', itemId: ITEM, content, before: null }, OWNER),
  'a change to one': async (t) => {
    const add = { kind: 'add', itemId: ITEM, content: small, before: null } as const;
    await t.session.entries.changeQueue(add, OWNER);
    await t.session.entries.changeQueue({ kind: 'edit', itemId: ITEM, content }, OWNER);
  },
  'an answer': async (t) => {
    const { gateId } = await t.next('gate_opened');
    await t.answer(gateId, { kind: 'declined', reason: WIDE });
  },
};

describe('what is too large to be stored', () => {
  it.each(Object.entries(COMMANDS))(
    'is refused as %s, and the session goes on',
    async (_, send) => {
      const t = await aSession({
        model: new ScriptedModel(calls(['w', {}]), says('done'), says('more'), says('yet more')),
        tools: [aTool('w', () => ok('x'))],
        decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [] }),
      });
      const first = t.prompt('go');
      const { gateId } = await t.next('gate_opened');
      await expect(send(t)).rejects.toThrow('16 MiB');
      expect(await t.answer(gateId, { kind: 'selected', optionId: 'allow_once' })).toBe(true);
      expect((await first).stopReason).toBe('end_turn');
      expect((await t.prompt('again')).stopReason).toBe('end_turn');
      t.session.cancelBefore(99, STOP);
    },
  );
});
