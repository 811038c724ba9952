import { describe, expect, it } from 'vitest';
import { parseHosts, urlProblem } from '../../../../src/extension/hosts/host.ts';
import { HostRegistry } from '../../../../src/extension/hosts/host-registry.ts';

function setUp(stored?: unknown) {
  const kept: unknown[] = [];
  const secrets = new Map<string, string>();
  let id = 0;
  const registry = new HostRegistry(
    { load: () => stored, save: async (hosts) => void kept.push(hosts) },
    {
      get: async (key) => secrets.get(key),
      store: async (key, value) => void secrets.set(key, value),
      delete: async (key) => void secrets.delete(key),
    },
    () => `id-${++id}`,
  );
  return { registry, kept, secrets };
}

const THERE = { kind: 'ws', name: 'There', url: 'wss://there.example/acp' } as const;

describe('the list of added hosts', () => {
  it('keeps the token in the secret storage alone', async () => {
    const { registry, kept, secrets } = setUp();
    const added = await registry.add(THERE, 'tok-123');
    expect(registry.all()).toEqual([{ ...THERE, id: added.id }]);
    expect(JSON.stringify(kept)).not.toContain('tok-123');
    expect([...secrets.values()]).toEqual(['tok-123']);
    expect(await registry.token(added.id)).toBe('tok-123');
  });

  it('takes no place twice', async () => {
    const { registry } = setUp();
    await registry.add(THERE, null);
    await expect(registry.add({ ...THERE, name: 'Other' }, null)).rejects.toMatchObject({
      code: 'host.known',
    });
    expect(registry.all()).toHaveLength(1);
  });

  it('forgets the token with the host, and keeps the others', async () => {
    const { registry, secrets } = setUp();
    const one = await registry.add(THERE, 'tok-1');
    const two = await registry.add({ kind: 'folder', name: 'Here', dataFolder: '/d' }, null);
    await registry.rename(two.id, 'Near');
    await registry.remove(one.id);
    expect(registry.all()).toEqual([
      { id: two.id, kind: 'folder', name: 'Near', dataFolder: '/d' },
    ]);
    expect(secrets.size).toBe(0);
  });

  it('leaves out what it can not read', () => {
    const good = { id: 'a', kind: 'folder', name: 'A', dataFolder: '/a' };
    expect(parseHosts([good, { id: 'b', kind: 'ssh' }, 'c', null])).toEqual([good]);
    expect(parseHosts({})).toEqual([]);
    expect(setUp([good]).registry.get('a')).toEqual(good);
  });

  it('says what keeps an address from being used', () => {
    expect(urlProblem('wss://there.example:8443/acp')).toBeNull();
    expect(urlProblem('ws://127.0.0.1:9000')).toBeNull();
    expect(urlProblem('ws://[::1]:9000')).toBeNull();
    expect(urlProblem('ws://localhost:9000')).toBeNull();
    expect(urlProblem('ws://there.example')).toBe('no_encryption');
    expect(urlProblem('ws://127.0.0.1.example')).toBe('no_encryption');
    expect(urlProblem('https://there.example')).toBe('wrong_scheme');
    expect(urlProblem('wss://me:secret@there.example')).toBe('has_secret');
    expect(urlProblem('wss://there.example/?token=abc')).toBe('has_secret');
    expect(urlProblem('there')).toBe('no_address');
  });
});
