import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../../../../src/core/session/ports.ts';
import type { PolicyRule } from '../../../../../src/core/session/tool.ts';
import {
  createPolicyStore,
  type PolicyStore,
} from '../../../../../src/core/tools/policy/policy-store.ts';

const allow: PolicyRule = { effect: 'allow', tool: '*', kind: 'execute', pattern: 'ls' };
const deny: PolicyRule = { effect: 'deny', tool: '*', kind: 'execute', pattern: 'rm *' };
let dataFolder: string;
let file: string;
let errors: string[];
let log: Log;

beforeEach(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), 'store-'));
  file = path.join(dataFolder, 'policy.json');
  errors = [];
  const ignore = (): void => undefined;
  log = { debug: ignore, info: ignore, warn: ignore, error: (message) => errors.push(message) };
});
afterEach(() => rm(dataFolder, { recursive: true }));

function open(): PolicyStore {
  return createPolicyStore({ dataFolder, log });
}
const add = (store: PolicyStore, rule: PolicyRule): Promise<void> =>
  store.update((rules) => ({ ...rules, user: [...rules.user, rule] }));

describe('stored rules', () => {
  it('are none at first, and outlast the one who stored them', async () => {
    const store = open();
    expect(await store.rules()).toEqual({ user: [], workspaces: {} });
    await add(store, allow);
    expect(await open().rules()).toEqual({ user: [allow], workspaces: {} });
    expect(await readdir(dataFolder)).toEqual(['policy.json']);
  });

  it('are all kept when stored at the same time', async () => {
    const store = open();
    await Promise.all([add(store, allow), add(store, deny)]);
    expect((await store.rules()).user).toEqual([allow, deny]);
  });

  it('are read again when a person changed the file', async () => {
    const store = open();
    await add(store, allow);
    await writeFile(file, JSON.stringify({ version: 1, user: [deny, deny], workspaces: {} }));
    expect((await store.rules()).user).toEqual([deny, deny]);
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, -8)],
    ['of an unknown version', (text: string) => text.replace('"version": 1', '"version": 9')],
    ['with a rule that makes no sense', (text: string) => text.replace('"allow"', '"perhaps"')],
  ])(
    'in a file that is %s keep what denies, allow nothing, and are never lost',
    async (_name, spoil) => {
      const store = open();
      await add(store, allow);
      await add(store, deny);
      const spoilt = spoil(await readFile(file, 'utf8'));
      await writeFile(file, spoilt);
      expect((await store.rules()).user).toEqual([deny]);
      expect(store.problem()).toContain(file);
      expect(errors).toHaveLength(1);
      await store.rules();
      expect(errors).toHaveLength(1);

      await add(store, allow);
      expect((await store.rules()).user).toEqual([deny, allow]);
      expect(store.problem()).toBeNull();
      const kept = (await readdir(dataFolder)).filter((name) => name.includes('broken'));
      expect(kept).toHaveLength(1);
      expect(await readFile(path.join(dataFolder, kept[0] ?? ''), 'utf8')).toBe(spoilt);
    },
  );

  it('in a file of noise are none', async () => {
    await writeFile(file, '\0\0{{{');
    const store = open();
    expect(await store.rules()).toEqual({ user: [], workspaces: {} });
    expect(store.problem()).not.toBeNull();
  });
});
