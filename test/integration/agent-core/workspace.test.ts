import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ListedCheckpoint } from '../../../src/protocol/checkpoint-shapes.ts';
import {
  answering,
  eventually,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import {
  type ControlClient,
  controlClient,
  controlsOf,
  INSTANT,
  KNOWS_CONTROL,
} from '../../support/agent-core/control-client.ts';

type Opened = ControlClient & { readonly home: string };

async function opened(env: NodeJS.ProcessEnv = {}): Promise<Opened> {
  const home = tempFolder('home');
  return { home, ...(await controlClient({ home, env: { ...INSTANT, ...env } })) };
}

/** The same session in another process. */
async function reopened(
  { home, sessionId, folder }: Opened,
  env: NodeJS.ProcessEnv = {},
): Promise<Opened> {
  const client = answering(startAgentCore(home, { env: { ...INSTANT, ...env } }), 'allow_once');
  await client.initialize(KNOWS_CONTROL);
  await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
  return { home, sessionId, folder, ...controlsOf(client, sessionId) };
}

async function listed({ client, sessionId }: Opened): Promise<readonly ListedCheckpoint[]> {
  const answer = await client.call('_pilothouse/checkpoints/list', { sessionId });
  return answer['checkpoints'] as readonly ListedCheckpoint[];
}

async function keep({ client, sessionId }: Opened): Promise<string> {
  const kept = await client.call('_pilothouse/checkpoints/create', { sessionId });
  return String(kept['checkpointId']);
}

const text = ({ folder }: Opened, name: string): string => readFileSync(join(folder, name), 'utf8');

describe('files that a person has kept', () => {
  it('are listed as such, and come back without the conversation, with receipts', async () => {
    const one = await opened();
    const { client, sessionId, folder } = one;
    writeFileSync(join(folder, 'a.txt'), 'first');
    const checkpointId = await keep(one);
    await client.prompt(sessionId, 'run printf second > a.txt; printf 1 > new.txt');
    expect((await listed(one)).map(({ kind, state }) => [kind, state])).toEqual([
      ['manual', 'off'],
      ['turn', 'stack'],
    ]);
    await expect(client.call('session/rollback', { sessionId, checkpointId })).rejects.toThrow(
      'files and no conversation',
    );
    const preview = await client.call('_pilothouse/checkpoints/preview', {
      sessionId,
      what: 'files',
      checkpointId,
    });
    expect(preview['files']).toMatchObject([
      { change: 'modified', changedSince: false },
      { change: 'deleted', changedSince: false },
    ]);
    await client.call('_pilothouse/checkpoints/restore', { sessionId, checkpointId });
    expect([text(one, 'a.txt'), existsSync(join(folder, 'new.txt'))]).toEqual(['first', false]);
    // The transcript stays: the turn is still the newest on the stack.
    expect(await listed(one)).toHaveLength(2);
    expect(one.outcomes()).toEqual(
      expect.arrayContaining([
        '_pilothouse/checkpoints/create kept accepted',
        'session/rollback unknown_checkpoint rejected',
        '_pilothouse/checkpoints/restore restored accepted',
      ]),
    );
    const again = await (async () => {
      await client.close();
      return reopened(one);
    })();
    expect((await listed(again))[0]).toMatchObject({ checkpointId, kind: 'manual' });
  });

  it('are kept once for a command that is sent again, also to another process', async () => {
    const one = await opened();
    writeFileSync(join(one.folder, 'a.txt'), 'first');
    const send = ({ client, sessionId }: Opened) =>
      client.call('_pilothouse/checkpoints/create', {
        sessionId,
        _meta: { pilothouse: { commandId: 'keep-1' } },
      });
    const first = await send(one);
    writeFileSync(join(one.folder, 'a.txt'), 'second');
    expect(await send(one)).toEqual(first);
    expect(one.outcomes().slice(-2)).toEqual([
      '_pilothouse/checkpoints/create kept accepted',
      '_pilothouse/checkpoints/create kept idempotent',
    ]);
    await one.client.close();
    const again = await reopened(one);
    expect(await send(again)).toEqual(first);
    expect(await listed(again)).toHaveLength(1);
    await again.client.call('_pilothouse/checkpoints/restore', {
      sessionId: again.sessionId,
      checkpointId: first['checkpointId'],
      overwrite: 'all',
    });
    expect(text(again, 'a.txt')).toBe('first');
  });

  it('are named by no event where the process died before it, and kept where it died after', async () => {
    const before = await opened({ CRASH_AT: 'before:append/workspace_checkpointed' });
    writeFileSync(join(before.folder, 'a.txt'), 'first');
    void keep(before).catch(() => undefined);
    expect((await before.client.exited).signal).toBe('SIGKILL');
    const again = await reopened(before);
    expect(await listed(again)).toEqual([]);
    const checkpointId = await keep(again);
    writeFileSync(join(before.folder, 'a.txt'), 'second');
    await again.client.call('_pilothouse/checkpoints/restore', {
      sessionId: again.sessionId,
      checkpointId,
      overwrite: 'all',
    });
    expect(text(again, 'a.txt')).toBe('first');

    const after = await opened({ CRASH_AT: 'after:append/workspace_checkpointed' });
    void keep(after).catch(() => undefined);
    expect((await after.client.exited).signal).toBe('SIGKILL');
    expect(await listed(await reopened(after))).toMatchObject([{ kind: 'manual' }]);
  });

  it('are as they were before a restore whose process died before it was told of', async () => {
    const one = await opened();
    writeFileSync(join(one.folder, 'a.txt'), 'first');
    const checkpointId = await keep(one);
    await one.client.prompt(one.sessionId, 'run printf second > a.txt; printf 1 > new.txt');
    await one.client.close();
    const crashing = await reopened(one, { CRASH_AT: 'before:append/files_restored' });
    const { client, sessionId } = crashing;
    void client
      .call('_pilothouse/checkpoints/restore', { sessionId, checkpointId })
      .catch(() => undefined);
    expect((await client.exited).signal).toBe('SIGKILL');
    // It was restored, and nobody was told.
    expect(text(one, 'a.txt')).toBe('first');
    const again = await reopened(one);
    expect([text(one, 'a.txt'), text(one, 'new.txt')]).toEqual(['second', '1']);
    await again.client.call('_pilothouse/checkpoints/restore', { sessionId, checkpointId });
    expect(text(one, 'a.txt')).toBe('first');
  });
});

describe('a turn that a crash broke off', () => {
  it('can be undone by the id of its checkpoint, what commands did included', async () => {
    const one = await opened();
    const { client, sessionId, folder } = one;
    writeFileSync(join(folder, 'a.txt'), 'first');
    writeFileSync(join(folder, 'gone.txt'), 'first');
    const script = [
      'write made.txt: by the turn',
      'run printf second > a.txt; rm gone.txt; printf 1 > done.txt',
      'wait 60',
    ];
    void client.prompt(sessionId, script.join('\n')).catch(() => undefined);
    await eventually(() => existsSync(join(folder, 'done.txt')), 'the effects of the turn');
    client.kill();
    await client.exited;
    const again = await reopened(one);
    const [checkpoint] = await listed(again);
    expect(checkpoint).toMatchObject({ kind: 'interrupted', state: 'off', files: 4 });
    await again.client.call('session/rollback', {
      sessionId,
      checkpointId: checkpoint?.checkpointId,
    });
    expect([text(one, 'a.txt'), text(one, 'gone.txt')]).toEqual(['first', 'first']);
    expect([existsSync(join(folder, 'made.txt')), existsSync(join(folder, 'done.txt'))]).toEqual([
      false,
      false,
    ]);
    expect(await listed(again)).toMatchObject([{ state: 'off' }]);
  });

  it('is told of once, also where the process dies again while the session comes back', async () => {
    const one = await opened({ CRASH_AT: 'after:effect/run' });
    void one.client.prompt(one.sessionId, 'run printf 1 > a.txt').catch(() => undefined);
    await one.client.exited;
    const home = { ...INSTANT, CRASH_AT: 'after:effect/checkpoint.recover_turn' };
    const second = startAgentCore(one.home, { env: home });
    await second.initialize(KNOWS_CONTROL);
    const { sessionId, folder } = one;
    void second
      .call('session/load', { sessionId, cwd: folder, mcpServers: [] })
      .catch(() => undefined);
    expect((await second.exited).signal).toBe('SIGKILL');
    const third = await reopened(one);
    expect(await listed(third)).toMatchObject([{ kind: 'interrupted', files: 1 }]);
  });
});

describe('a session that requires checkpoints', () => {
  it('changes nothing that it could not put back, and goes on when it may', async () => {
    // Where git is nowhere.
    const empty = tempFolder('empty');
    const one = await opened({ PATH: empty });
    const { client, sessionId, folder } = one;
    const set = (value: string): Promise<object> =>
      client.call('session/set_config_option', { sessionId, configId: 'checkpoints', value });
    expect(JSON.stringify(await set('required'))).toContain('"currentValue":"required"');
    await expect(client.prompt(sessionId, 'write a.txt: x')).rejects.toThrow('git was not found');
    expect(existsSync(join(folder, 'a.txt'))).toBe(false);
    await expect(client.prompt(sessionId, 'say hello')).rejects.toMatchObject({
      data: { code: 'session.workspace_fault' },
    });
    await expect(keep(one)).rejects.toThrow('git was not found');
    await client.close();
    // It still stands in another process, until the files are kept.
    const again = await reopened(one);
    await expect(again.client.prompt(sessionId, 'say hello')).rejects.toMatchObject({
      data: { code: 'session.workspace_fault' },
    });
    await keep(again);
    expect(await again.client.prompt(sessionId, 'write a.txt: x')).toMatchObject({
      stopReason: 'end_turn',
    });
    expect(text(one, 'a.txt')).toBe('x');
    rmSync(empty, { recursive: true });
  });
});
