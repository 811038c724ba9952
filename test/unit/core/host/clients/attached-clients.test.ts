import { describe, expect, it } from 'vitest';
import { AttachedClients } from '../../../../../src/core/host/clients/attached-clients.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import { MemoryClient } from '../../../../support/clients/memory-client.ts';

function aSession(...clients: MemoryClient[]): AttachedClients {
  let now = 0;
  const attached = new AttachedClients('s' as SessionId, () => (now += 1_000));
  for (const client of clients) attached.attach(client);
  return attached;
}

function keys(clients: AttachedClients): readonly string[] {
  return clients.owners().map(({ key }) => key);
}

function roles(clients: AttachedClients): object {
  return Object.fromEntries(
    clients.list(null).map(({ key, role, acting }) => [key, acting ? `${role}, acting` : role]),
  );
}

describe('the acting owner of a session', () => {
  it('is the one that came first, then whoever claimed or prompted last, and falls back in that order', () => {
    const [a, b, c] = [new MemoryClient('a'), new MemoryClient('b'), new MemoryClient('c')];
    const clients = aSession(a, b, c);
    expect(keys(clients)).toEqual(['a', 'b', 'c']);
    clients.acted(c);
    expect(keys(clients)).toEqual(['c', 'a', 'b']);
    clients.claim(b, { exclusive: false });
    expect(keys(clients)).toEqual(['b', 'c', 'a']);
    clients.detach(b);
    expect(keys(clients)).toEqual(['c', 'a']);
    clients.detach(c);
    expect(keys(clients)).toEqual(['a']);
    clients.detach(a);
    expect(keys(clients)).toEqual([]);
  });

  it('is no observer, whatever that does, and no client that is not attached', () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const clients = aSession(a);
    clients.attach(b, { role: 'observer' });
    clients.acted(b);
    clients.acted(new MemoryClient('stranger'));
    expect(roles(clients)).toEqual({ a: 'host_owner, acting', b: 'observer' });
    clients.detach(a);
    expect(roles(clients)).toEqual({ b: 'observer' });
  });

  it('keeps its place when it attaches again', () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const clients = aSession(a, b);
    const [before] = clients.list(a);
    const heard = b.heard.length;
    clients.attach(a);
    expect(clients.list(a)[0]).toEqual(before);
    expect(b.heard).toHaveLength(heard);
    expect(keys(clients)).toEqual(['a', 'b']);
  });
});

describe('roles in a session', () => {
  it('are never more than the credential of a client allows', () => {
    const reader = new MemoryClient('reader', { ceiling: 'observer' });
    const clients = aSession();
    expect(clients.attach(reader, { role: 'host_owner' })).toBe('observer');
    expect(clients.attach(reader)).toBe('observer');
    const owner = new MemoryClient('owner');
    expect(clients.attach(owner, { role: 'observer' })).toBe('observer');
    // What it does not say stays as it is.
    expect(clients.attach(owner)).toBe('observer');
    expect(clients.attach(owner, { role: 'host_owner' })).toBe('host_owner');
  });

  it('are taken from all others by an exclusive claim alone, and each is told what changed for it', () => {
    const [a, b, c] = [new MemoryClient('a'), new MemoryClient('b'), new MemoryClient('c')];
    const clients = aSession(a, b);
    clients.attach(c, { role: 'observer' });
    for (const { heard } of [a, b, c]) heard.length = 0;
    clients.claim(c, { exclusive: false });
    expect(roles(clients)).toEqual({ a: 'host_owner', b: 'host_owner', c: 'host_owner, acting' });
    expect([a.heard, b.heard, c.heard]).toEqual([
      ['clients'],
      ['clients'],
      ['host_owner by c', 'clients'],
    ]);
    clients.claim(b, { exclusive: true });
    expect(roles(clients)).toEqual({ a: 'observer', b: 'host_owner, acting', c: 'observer' });
    expect([a.heard, b.heard, c.heard]).toEqual([
      ['clients', 'observer by b', 'clients'],
      ['clients', 'clients'],
      ['host_owner by c', 'clients', 'observer by b', 'clients'],
    ]);
  });

  it('come back to those who lost them when the one that took them for itself is gone', () => {
    const [a, b, c] = [new MemoryClient('a'), new MemoryClient('b'), new MemoryClient('c')];
    const clients = aSession(a, b);
    clients.attach(c, { role: 'observer' });
    clients.claim(b, { exclusive: true });
    clients.attach(a);
    expect(roles(clients)).toEqual({ a: 'observer', b: 'host_owner, acting', c: 'observer' });
    clients.detach(b);
    // An observer by its own wish stays one.
    expect(roles(clients)).toEqual({ a: 'host_owner, acting', c: 'observer' });
    expect(a.heard.slice(-2)).toEqual(['host_owner by b', 'clients']);
  });

  it('go with what was handed over to whoever has it now', () => {
    const [a, b, c] = [new MemoryClient('a'), new MemoryClient('b'), new MemoryClient('c')];
    const clients = aSession(a, b, c);
    clients.claim(b, { exclusive: true });
    clients.handOver(b, c);
    clients.detach(b);
    expect(roles(clients)).toEqual({ a: 'observer', c: 'host_owner, acting' });
    clients.detach(c);
    expect(roles(clients)).toEqual({ a: 'host_owner, acting' });
  });

  it('are handed over: the other owns and acts, the giver observes, a third keeps its own', () => {
    const [a, b, c] = [new MemoryClient('a'), new MemoryClient('b'), new MemoryClient('c')];
    const clients = aSession(a, c);
    clients.attach(b, { role: 'observer' });
    expect(clients.handOver(a, b)).toBe(true);
    expect(roles(clients)).toEqual({ a: 'observer', c: 'host_owner', b: 'host_owner, acting' });
    expect([a.heard.at(-2), b.heard.at(-2)]).toEqual(['observer by a', 'host_owner by a']);
    expect(clients.handOver(a, new MemoryClient('stranger'))).toBe(false);
  });

  it('lists who is there, since when, and which of them reads it', () => {
    const [a, b] = [new MemoryClient('a', { title: 'Window' }), new MemoryClient('b')];
    expect(aSession(a, b).list(b)).toEqual([
      {
        key: 'a',
        clientId: 'client a',
        title: 'Window',
        role: 'host_owner',
        acting: true,
        since: '1970-01-01T00:00:01.000Z',
        you: false,
      },
      {
        key: 'b',
        clientId: 'client b',
        role: 'host_owner',
        acting: false,
        since: '1970-01-01T00:00:02.000Z',
        you: true,
      },
    ]);
  });

  it('tells the others of one that comes, goes or acts, not itself, and nobody of what changes nothing', () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const clients = aSession(a, b);
    expect([a.heard, b.heard]).toEqual([['clients'], []]);
    clients.acted(a);
    expect([a.heard, b.heard]).toEqual([['clients'], []]);
    clients.acted(b);
    expect([a.heard, b.heard]).toEqual([['clients', 'clients'], ['clients']]);
    clients.detach(b);
    expect([a.heard, b.heard]).toEqual([['clients', 'clients', 'clients'], ['clients']]);
  });
});

describe('what becomes of a session when a client goes', () => {
  it('is what the last one wanted, for this session or in general', () => {
    const stop = new MemoryClient('stop', { onDetach: 'stop' });
    const keep = new MemoryClient('keep');
    const clients = aSession(stop, keep);
    expect(clients.detach(stop)).toBe('others_left');
    expect(clients.detach(keep)).toBe('keep');
    expect(clients.detach(keep)).toBe('not_attached');
    clients.attach(keep, { onDetach: 'stop' });
    expect(clients.onDetach(keep)).toBe('stop');
    clients.attach(keep);
    expect(clients.detach(keep)).toBe('stop');
  });

  it('is not for an observer to decide where an owner was before', () => {
    const owner = new MemoryClient('owner');
    const reader = new MemoryClient('reader', { ceiling: 'observer', onDetach: 'stop' });
    const clients = aSession(owner, reader);
    expect(clients.detach(owner)).toBe('others_left');
    expect(clients.detach(reader)).toBe('keep');
    const alone = aSession(reader);
    expect(alone.detach(reader)).toBe('stop');
  });
});
