import { afterEach, describe, expect, test } from 'vitest';
import { Actors } from '../../../../src/core/acp/access/actors.ts';
import { Credential, type Role } from '../../../../src/core/acp/access/credential.ts';
import { takeAccessKeys } from '../../../../src/core/host/compose/access-keys.ts';

describe('the key of a connection', () => {
  const environment: NodeJS.ProcessEnv = {};

  afterEach(() => {
    for (const name of Object.keys(environment)) delete environment[name];
  });

  test('is taken out of the environment; an empty one is none', () => {
    Object.assign(environment, {
      PILOTHOUSE_API_KEY: 'a',
      PILOTHOUSE_OBSERVER_KEY: ' ',
      OTHER: 'b',
    });
    expect(takeAccessKeys(environment)).toEqual({ owner: 'a', observer: null });
    expect(environment).toEqual({ OTHER: 'b' });
    expect(takeAccessKeys(environment)).toEqual({ owner: null, observer: null });
  });

  test('opens only what it is the key of, and nothing is open before', () => {
    const credential = new Credential({ owner: 'own', observer: 'watch' });
    expect([credential.isAsked, credential.ceiling]).toEqual([true, null]);
    for (const wrong of ['', 'ow', 'owner', 'watch ']) expect(credential.show(wrong)).toBe(false);
    expect(credential.ceiling).toBeNull();
    expect([credential.show('watch'), credential.ceiling]).toEqual([true, 'observer']);
    expect([credential.show('own'), credential.ceiling]).toEqual([true, 'host_owner']);
    const ownerOnly = new Credential({ owner: 'own', observer: null });
    expect(ownerOnly.show('')).toBe(false);
    expect(new Credential().ceiling).toBe('host_owner');
  });
});

describe('the actor of a call', () => {
  const actors = (ceiling: Role, inSession?: Role): Actors =>
    new Actors({ name: () => 'client', ceiling: () => ceiling, roleIn: () => inSession });
  const says = (actor: object): object => ({ _meta: { harn: { actor } } });

  test('may be narrowed by the session and by the call, and widened by nothing', () => {
    const owner = says({ role: 'host_owner' });
    expect(actors('host_owner').of({}).role).toBe('host_owner');
    expect(actors('host_owner', 'observer').of(owner, 's').role).toBe('observer');
    expect(actors('host_owner').of(says({ role: 'observer' })).role).toBe('observer');
    expect(actors('observer', 'host_owner').of(owner, 's').role).toBe('observer');
  });

  test('has the name that the call gives, in any of the places Harn knows, and the door as source', () => {
    const one = actors('host_owner');
    expect(one.of({})).toEqual({ clientId: 'client', role: 'host_owner', source: 'acp' });
    for (const params of [
      says({ clientId: 'other', source: 'policy' }),
      { _harn: { actor: { clientId: 'other' } } },
      { _meta: { harn: { client_id: 'other' } } },
    ])
      expect(one.of(params)).toEqual({ clientId: 'other', role: 'host_owner', source: 'acp' });
    expect(one.of(says({ clientId: 5 })).clientId).toBe('client');
    expect(one.isOwn(one.of({}))).toBe(true);
    expect(one.isOwn(actors('host_owner').of({}))).toBe(false);
  });
});
