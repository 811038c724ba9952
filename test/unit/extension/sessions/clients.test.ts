import { describe, expect, it } from 'vitest';
import { companyOf } from '../../../../src/extension/sessions/clients/company.ts';
import {
  clientsChangeOf,
  roleChangeOf,
  SessionClients,
} from '../../../../src/extension/sessions/clients/session-clients.ts';
import type { SessionClient } from '../../../../src/protocol/session-clients.ts';

function client(key: string, fields: Partial<SessionClient> = {}): SessionClient {
  const known = { key, clientId: 'pilothouse-vscode', role: 'host_owner', since: 'then' } as const;
  return { ...known, acting: false, you: false, ...fields };
}

const you = client('me', { you: true });
const others = (...list: SessionClient[]) => companyOf({ role: 'host_owner', others: list });

describe('who else follows a session', () => {
  it('is nothing to speak of where this window is alone and in control', () => {
    expect(others()).toBeNull();
  });

  it('is counted by windows and named by programs', () => {
    expect(others(client('a'))).toEqual({ others: 'Also open in 1 other window' });
    const acpx = client('b', { clientId: 'acpx' });
    const phone = client('c', { clientId: 'p', title: 'My Phone' });
    expect(others(client('a'), client('d'), acpx, phone, acpx)).toEqual({
      others: 'Also open in 2 other windows · Also used by acpx, My Phone',
    });
  });

  it('says who has control where this window only reads', () => {
    const reading = (...list: SessionClient[]) =>
      companyOf({ role: 'observer', others: list })?.reading;
    expect(reading(client('a', { acting: true }))).toBe(
      'Reading only: another window has control.',
    );
    expect(reading(client('a', { acting: true, clientId: 'acpx' }))).toBe(
      'Reading only: acpx has control.',
    );
    expect(reading(client('a', { role: 'observer' }))).toBe('Reading only: nobody has control.');
    expect(reading()).toBe('Reading only: nobody has control.');
  });

  it('is kept as the host tells it, and this window owns until it says otherwise', () => {
    let changes = 0;
    const kept = new SessionClients({
      sessionId: 's',
      connect: () => Promise.reject(new Error('not needed')),
      changed: () => {
        changes += 1;
      },
      log: () => undefined,
    });
    expect(kept.role).toBe('host_owner');
    kept.take([client('a'), { ...you, role: 'observer' }]);
    expect([kept.role, kept.others.map(({ key }) => key), changes]).toEqual(['observer', ['a'], 1]);
    expect([kept.isOwn('me'), kept.isOwn('a')]).toEqual([true, false]);
    kept.forget();
    expect([kept.role, kept.others]).toEqual(['host_owner', []]);
  });

  it('is read from the wire only in its known shape', () => {
    expect(clientsChangeOf({ sessionId: 's', clients: [you] })?.clients).toEqual([you]);
    expect(clientsChangeOf({ sessionId: 's', clients: [{ ...you, role: 'king' }] })).toBeNull();
    const change = { sessionId: 's', role: 'observer', by: { key: 'a', clientId: 'acpx' } };
    expect(roleChangeOf(change)).toEqual(change);
    expect(roleChangeOf({ ...change, by: null })).toBeNull();
  });
});
