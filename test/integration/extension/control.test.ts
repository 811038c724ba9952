import { afterEach, describe, expect, it } from 'vitest';
import { handleControlRequest } from '../../../src/extension/chat/control-requests.ts';
import { waitingStatus } from '../../../src/extension/chat/waiting-status.ts';
import {
  type SendSettings,
  type Sent,
  sendMessage,
} from '../../../src/extension/sessions/control/sending.ts';
import type { LiveSession } from '../../../src/extension/sessions/live-session.ts';
import type { ChatItem, ChatSendMode } from '../../../src/protocol/chat.ts';
import { FakeSetup, untilTrue } from '../../support/fake-agent/client.ts';

const STEERS: SendSettings = { whileRunning: 'steer', whenTurnEnded: 'prompt' };

let setup: FakeSetup;

afterEach(async () => setup.dispose());

/** A session whose turn waits at an approval; `go` answers it. */
async function held(...after: readonly string[]): Promise<{
  session: LiveSession;
  go: () => boolean;
}> {
  setup = new FakeSetup();
  const session = await setup.hub.create('/w');
  await setup.send(session, 'ask hold', ...after);
  await untilTrue(setup.gates.onDidChange, () => setup.gates.all().length === 1);
  const gateId = setup.gates.all()[0]?.gateId ?? '';
  const go = () => setup.gates.answer(gateId, { kind: 'selected', optionId: 'allow_once' });
  return { session, go };
}

async function send(
  session: LiveSession,
  text: string,
  mode?: ChatSendMode,
  settings = STEERS,
): Promise<Sent> {
  return sendMessage(session, [{ type: 'text', text }], text, settings, mode);
}

function users(session: LiveSession): string[] {
  return session.conversation
    .items()
    .flatMap((item: ChatItem) =>
      item.kind === 'user' ? [item.inject ? `${item.inject.mode}: ${item.text}` : item.text] : [],
    );
}

const pending = (session: LiveSession) =>
  waitingStatus(session.waiting).pending.map(({ text, state }) => `${text} (${state})`);

const queued = (session: LiveSession) =>
  waitingStatus(session.waiting).nextTurns.items.map(({ text }) => text);

describe('messages for a running turn', () => {
  it('that are sent in quick succession are both delivered, in their order (A10)', async () => {
    const { session, go } = await held('seam');
    const long = 'A'.repeat(1_200);
    await Promise.all([send(session, long), send(session, 'B')]);
    expect(pending(session)).toEqual([`${long} (pending)`, 'B (pending)']);
    const ended = setup.nextEnd(session);
    go();
    await ended;
    expect(users(session).slice(1)).toEqual([`steer: ${long}`, 'steer: B']);
    expect(pending(session)).toEqual([]);
  });

  it('go before what is queued, which stays queued (A11)', async () => {
    const { session, go } = await held('seam');
    await send(session, 'Q', 'next');
    await send(session, 'S');
    const ended = setup.nextEnd(session);
    go();
    await ended;
    expect(users(session).slice(1)).toEqual(['steer: S']);
    expect(queued(session)).toEqual(['Q']);
  });

  it('never answer an approval (A15)', async () => {
    const { session, go } = await held();
    for (const mode of ['next', 'steer', 'interrupt', 'note'] as const)
      await send(session, 'allow_once', mode);
    expect(setup.gates.all()).toHaveLength(1);
    expect(go()).toBe(true);
    await setup.nextEnd(session);
  });

  it('come back when their turn ends first, and go into the composer or away', async () => {
    const { session, go } = await held();
    await send(session, 'one');
    await send(session, 'two');
    const [one, two] = session.waiting.pending;
    go();
    await untilTrue(session.onDidChange, () => session.waiting.givenBack.length === 2);
    expect(pending(session)).toEqual(['one (given_back)', 'two (given_back)']);
    const composed: string[] = [];
    const compose = (text: string) => composed.push(text);
    const request = (type: 'pending_recompose' | 'pending_revoke', id = '') =>
      handleControlRequest(session, { type, id }, compose);
    await request('pending_recompose', one?.messageId);
    await request('pending_revoke', two?.messageId);
    expect(composed).toEqual(['one']);
    expect(pending(session)).toEqual([]);
  });

  it('that were taken back do not come back: the twin of the one above', async () => {
    const { session, go } = await held();
    await send(session, 'one');
    const [one] = session.waiting.pending;
    await session.controls.revoke(one?.messageId ?? '');
    const ended = setup.nextEnd(session);
    go();
    await ended;
    expect(pending(session)).toEqual([]);
  });

  it('come back when the process dies', async () => {
    const { session, go } = await held('die');
    await send(session, 'not lost');
    go();
    await untilTrue(session.onDidChange, () => session.waiting.givenBack.length === 1);
    expect(pending(session)).toEqual(['not lost (given_back)']);
  });

  it('whose change is refused keep the new text: it goes into the composer', async () => {
    const { session, go } = await held('seam', 'ask again');
    await send(session, 'old');
    const [message] = session.waiting.pending;
    const id = message?.messageId ?? '';
    const composed: string[] = [];
    const edit = (text: string) =>
      handleControlRequest(session, { type: 'pending_edit', id, text }, (one) =>
        composed.push(one),
      );
    await edit('new');
    expect(pending(session)).toEqual(['new (pending)']);
    // The list still shows the message when the person saves; the agent has delivered it meanwhile.
    const late = session.waiting.find(id);
    go();
    await untilTrue(session.onDidChange, () => session.waiting.pending.length === 0);
    await expect(
      session.controls.replace(late?.messageId ?? '', [{ type: 'text', text: 'x' }]),
    ).rejects.toMatchObject({ code: 'control.refused', reason: 'already_delivered' });
    await edit('too late');
    expect(composed).toEqual(['too late']);
    await session.stop();
  });
});

describe('a message whose turn has just ended', () => {
  it('is sent as the next prompt', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    const sent = await send(session, 'say late', 'steer');
    expect(sent).toEqual({ mode: 'prompt', id: null, fellBack: true });
    expect(await ended).toBe('end_turn');
    expect(users(session)).toEqual(['say late']);
  });

  it('stays with the person where that is set, with a sentence why', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const keep: SendSettings = { ...STEERS, whenTurnEnded: 'keep' };
    await expect(send(session, 'say late', 'steer', keep)).rejects.toMatchObject({
      code: 'control.refused',
      message: expect.stringContaining('ended before') as unknown,
    });
    await expect(send(session, 'a note', 'note')).rejects.toMatchObject({
      code: 'control.refused',
    });
    expect(users(session)).toEqual([]);
  });
});

describe('sending', () => {
  it.each([
    ['steer', 'steer'],
    ['next', 'next'],
    ['interrupt', 'interrupt'],
    ['note', 'note'],
  ] as const)('while a turn runs does what is set: %s', async (whileRunning, mode) => {
    const { session } = await held();
    const sent = await send(session, 'x', undefined, { ...STEERS, whileRunning });
    expect(sent.mode).toBe(mode);
    await session.stop();
  });

  it('at rest begins a turn, and during a stop is kept for after it (A07)', async () => {
    const { session } = await held();
    await session.stop();
    expect((await send(session, 'say after', 'steer')).mode).toBe('prompt');
    await untilTrue(session.onDidChange, () => users(session).includes('say after'));
    expect(session.waiting.givenBack).toEqual([]);
  });

  it('tells the receipt of each control', async () => {
    const { session } = await held();
    const outcomes: string[] = [];
    session.onDidChange((change) => {
      if (change.kind === 'receipt') outcomes.push(change.receipt.outcome);
    });
    await send(session, 'x');
    expect(outcomes).toEqual(['accepted']);
    await session.stop();
  });
});
