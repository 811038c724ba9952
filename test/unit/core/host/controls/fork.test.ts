import { describe, expect, test } from 'vitest';
import type { Client } from '../../../../../src/core/host/api.ts';
import { foldSession } from '../../../../../src/core/host/fold-session.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';
import { aRig, ID, target } from '../../../../support/engine/history-rig.ts';

const client = { actor: OWNER } as Client;
const all = { limit: 1_000_000 };
const overwrite: readonly string[] = [];
const refused = (refusal: string) => expect.objectContaining({ refusal });

describe('fork', () => {
  test('copies the current branch up to the cut into a session of its own', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('gone');
    await rig.desk.rollback(target, { overwrite });
    await rig.writes('two');
    const { session, journal } = rig.t;
    const forked = await rig.desk.fork(target, { at: { whole: true }, branchName: 'b' }, client);
    expect(forked).toMatchObject({ parentId: ID, branchedAt: null, at: 5 });
    const child = forked.session.sessionId;
    const folded = await foldSession(journal, child);
    expect(folded.conversation.messages).toEqual(session.conversation.messages);
    expect(folded.state.timeline.moves).toEqual([]);
    expect(folded.state.timeline.reachable()).toEqual([]);
    const history = await journal.readHistory(child, all);
    expect(JSON.stringify(history)).not.toContain('gone');
    expect(history[0]?.event).toMatchObject({
      type: 'session_created',
      parent: { sessionId: ID, eventId: session.tip.lastEventId, branchName: 'b' },
    });
    expect((await rig.receipts()).at(-1)).toMatchObject({
      method: 'session/fork',
      outcome: 'forked',
      target: { childId: child },
      metadata: { branchedAt: null },
    });
    await rig.writes('parent');
    const later = await foldSession(journal, child);
    expect(later.conversation.messages).toEqual(folded.conversation.messages);
  });

  test.each(['before', 'after'])(
    'of a session deleted %s its history was read is refused and leaves none',
    async (when) => {
      const rig = await aRig();
      await rig.writes('one');
      const { journal } = rig.t;
      const read = journal.readHistory.bind(journal);
      journal.readHistory = async (...args) => {
        if (when === 'before') journal.records.delete(ID as SessionId);
        const found = await read(...args);
        journal.records.delete(ID as SessionId);
        return found;
      };
      await expect(
        rig.desk.fork(target, { at: { whole: true }, id: 'child' }, client),
      ).rejects.toEqual(refused('unknown_session'));
      expect(await journal.session('child' as SessionId)).toBeNull();
    },
  );

  test('in the middle of a turn is sealed, and keeps the options of today', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.t.session.entries.changeLoop({ mode: 'code' }, { actor: OWNER, agency: 'user' });
    const { session, branchedAt } = await rig.desk.fork(
      target,
      { at: { keepFirst: 3 }, id: 'child' },
      client,
    );
    expect([session.sessionId, branchedAt]).toEqual(['child', 3]);
    const { state, conversation } = await foldSession(rig.t.journal, 'child' as SessionId);
    expect(state.openTurn).toBeNull();
    expect(state.config.mode).toBe('code');
    expect(conversation.messageCount).toBe(3);
    expect(conversation.openCalls).toEqual([]);
    // The copies and the seal name what brought the turn about.
    const copies = await rig.t.journal.readHistory('child' as SessionId, all);
    const began = copies.find(({ event }) => event.type === 'turn_started');
    expect(began?.cause.command_ids).toHaveLength(1);
    expect(copies.find(({ event }) => event.type === 'turn_ended')?.cause).toEqual(began?.cause);
    await expect(
      rig.desk.fork(target, { at: { whole: true }, id: 'child' }, client),
    ).rejects.toEqual(refused('session_exists'));
    await expect(
      rig.desk.fork(target, { at: { whole: true }, id: 'host' }, client),
    ).rejects.toEqual(refused('session_exists'));
    await expect(rig.desk.fork(target, { at: { keepFirst: 2 } }, client)).rejects.toEqual(
      refused('splits_tool_batch'),
    );
  });

  test('takes what is complete of a running turn, which goes on', async () => {
    const rig = await aRig();
    await rig.writes('one');
    const running = await rig.streams();
    const { session } = await rig.desk.fork(target, { at: { whole: true } }, client);
    const { conversation, state } = await foldSession(rig.t.journal, session.sessionId);
    expect(conversation.messageCount).toBe(5);
    expect(state.openTurn).toBeNull();
    expect(rig.t.session.isActive).toBe(true);
    await running.stop();
  });

  test.each(['../../x', ' ', 'a\u0000b', '\ud800', '.hidden', 'a/b', 'x'.repeat(129), 'ä'])(
    'refuses the id %j, which not every place can hold',
    async (id) => {
      const rig = await aRig();
      await rig.writes('one');
      await expect(rig.desk.fork(target, { at: { whole: true }, id }, client)).rejects.toEqual(
        refused('invalid_params'),
      );
      expect((await rig.receipts()).at(-1)).toMatchObject({ outcome: 'invalid_params' });
    },
  );

  test('gives an id that several ask for at once to one of them', async () => {
    const rig = await aRig();
    await rig.writes('one');
    const forks = await Promise.allSettled(
      [1, 2, 3].map(() => rig.desk.fork(target, { at: { whole: true }, id: 'child' }, client)),
    );
    expect(forks).toEqual([
      expect.objectContaining({ status: 'fulfilled' }),
      { status: 'rejected', reason: refused('session_exists') },
      { status: 'rejected', reason: refused('session_exists') },
    ]);
  });

  test('may only narrow the environment', async () => {
    const rig = await aRig();
    const isolated = { kind: 'isolated' } as const;
    await rig.desk.fork(
      target,
      { at: { whole: true }, id: 'narrow', environmentPolicy: isolated },
      client,
    );
    const [first] = await rig.t.journal.readHistory('narrow' as SessionId, { limit: 1 });
    expect(first?.event).toMatchObject({ environmentPolicy: isolated });
  });
});
