import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answering, startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';

describe('staged files over the wire', () => {
  it('reach the disk with a commit and not before, also when the process was killed in between', async () => {
    const folder = tempFolder('work');
    const home = tempFolder('home');
    writeFileSync(join(folder, 'old.txt'), '\uFEFFone\r\ntwo\r\n');
    const first = answering(startAgentCore(home), 'allow_once');
    await first.initialize({ _meta: { harn: {} } });
    const sessionId = await first.newSession(folder);
    expect(await first.call('session/fs_mode', { sessionId, mode: 'staged' })).toMatchObject({
      previousMode: 'immediate',
      mode: 'staged',
    });
    await first.prompt(
      sessionId,
      'write sub/new.txt: made\nreplace two with 2 in old.txt\nread old.txt\nfinish with done',
    );
    // A staged write is asked about as any other.
    expect(first.calls('session/request_permission')).toHaveLength(2);
    expect(existsSync(join(folder, 'sub'))).toBe(false);
    expect(readFileSync(join(folder, 'old.txt'), 'utf8')).toBe('\uFEFFone\r\ntwo\r\n');
    first.kill();

    const second = answering(startAgentCore(home), 'allow_once');
    await second.initialize({ _meta: { harn: {} } });
    await second.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(await second.call('_pilothouse/staged/list', { sessionId })).toMatchObject({
      mode: 'staged',
      files: [
        { path: join(folder, 'old.txt'), state: 'modified', changedSince: false },
        { path: join(folder, 'sub/new.txt'), state: 'added', changedSince: false },
      ],
    });
    expect(await second.call('session/fs_commit_staged', { sessionId })).toMatchObject({
      committedPaths: [join(folder, 'old.txt'), join(folder, 'sub/new.txt')],
      failedPathsWithReasons: [],
    });
    expect(readFileSync(join(folder, 'old.txt'), 'utf8')).toBe('\uFEFFone\r\n2\r\n');
    expect(readFileSync(join(folder, 'sub/new.txt'), 'utf8')).toBe('made');
    expect(await second.close()).toEqual({ code: 0, signal: null });
  });

  it('of a turn that is rolled back are staged no more, and again after a redo', async () => {
    const folder = tempFolder('work');
    const client = answering(startAgentCore(tempFolder('home')), 'allow_once');
    await client.initialize({ _meta: { harn: {} } });
    const sessionId = await client.newSession(folder);
    const paths = async (): Promise<unknown[]> => {
      const { files } = await client.call('_pilothouse/staged/list', { sessionId });
      return (files as { path: string }[]).map(({ path }) => path);
    };
    await client.call('session/fs_mode', { sessionId, mode: 'staged' });
    await client.prompt(sessionId, 'write a.txt: one\nfinish with done');
    await client.prompt(sessionId, 'write b.txt: two\nfinish with done');
    expect(await paths()).toEqual([join(folder, 'a.txt'), join(folder, 'b.txt')]);
    await client.call('session/rollback', { sessionId });
    expect(await paths()).toEqual([join(folder, 'a.txt')]);
    await client.call('session/redo', { sessionId });
    expect(await paths()).toEqual([join(folder, 'a.txt'), join(folder, 'b.txt')]);
    await client.call('session/rollback', { sessionId });
    await client.call('session/fs_discard_staged', { sessionId });
    await expect(client.call('session/redo', { sessionId })).rejects.toThrow();
    expect(existsSync(join(folder, 'a.txt'))).toBe(false);
  });
});
