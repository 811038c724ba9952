import { describe, expect, it } from 'vitest';
import type { OpenGate } from '../../../../../src/core/host/api.ts';
import { AttachedClients } from '../../../../../src/core/host/clients/attached-clients.ts';
import type { GateId, SessionId } from '../../../../../src/core/session/words.ts';
import { MemoryClient } from '../../../../support/clients/memory-client.ts';

const GATE = 'gate' as GateId;
const NO = { kind: 'declined', reason: 'can not show questions' } as const;

function rig(...clients: MemoryClient[]) {
  const attached = new AttachedClients('s' as SessionId, () => 0);
  for (const client of clients) attached.attach(client);
  const answers: string[] = [];
  const open = new Set<GateId>([GATE]);
  const session = {
    openGates: () => [...open].map((gateId) => ({ gateId }) as OpenGate),
    answerGate: async (gateId: GateId, _answer: unknown, actor: { clientId: string }) => {
      answers.push(actor.clientId);
      return open.delete(gateId);
    },
  };
  const pass = (client: MemoryClient): Promise<void> =>
    attached.passes.pass(session, client, { gateId: GATE, answer: NO });
  return { attached, answers, open, pass, ask: () => attached.passes.asked(session, GATE) };
}

describe('a question that a client can not put to a person', () => {
  it('is declined at once where that client is the only owner', async () => {
    const a = new MemoryClient('a');
    const { answers, pass } = rig(a);
    await pass(a);
    expect(answers).toEqual(['client a']);
  });

  it('stays open for another owner, is declined when that one passes too, and only once', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const { attached, answers, pass } = rig(a, b);
    await pass(a);
    expect(answers).toEqual([]);
    await pass(b);
    await pass(a);
    attached.detach(a);
    expect(answers).toEqual(['client b']);
  });

  it('is declined when the owner that could have answered becomes an observer', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const { attached, answers, pass } = rig(a, b);
    await pass(a);
    attached.claim(a, { exclusive: true });
    expect(answers).toEqual(['client a']);
  });

  it('waits while nobody owns the session, and counts no observer', async () => {
    const a = new MemoryClient('a');
    const reader = new MemoryClient('reader', { ceiling: 'observer' });
    const { attached, answers, pass } = rig(a, reader);
    attached.detach(a);
    await pass(a);
    expect(answers).toEqual([]);
    attached.attach(new MemoryClient('b'));
    expect(answers).toEqual([]);
  });

  it('waits for an owner that was asked and went, whoever comes meanwhile', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const { attached, answers, ask, pass } = rig(a);
    ask();
    attached.detach(a);
    attached.attach(b);
    await pass(b);
    expect(answers).toEqual([]);
  });

  it('is nobody’s to decline once it was answered elsewhere', async () => {
    const a = new MemoryClient('a');
    const { answers, open, pass } = rig(a);
    open.clear();
    await pass(a);
    expect(answers).toEqual([]);
  });
});
