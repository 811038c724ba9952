import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  answering,
  eventually,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import {
  type ControlClient,
  controlClient,
  INSTANT,
  KNOWS_CONTROL,
} from '../../support/agent-core/control-client.ts';

type Moved = {
  readonly status: string;
  readonly checkpointId: string;
  readonly beforeMessageCount: number;
  readonly afterMessageCount: number;
  readonly prefix_hash: string;
  readonly fsRestores: readonly {
    readonly restoredPaths: readonly string[];
    readonly skippedPathsWithReasons: readonly { readonly path: string; readonly reason: string }[];
  }[];
};

type Checkpoint = {
  readonly checkpointId: string;
  readonly state: string;
  readonly prompt: string;
};

/** Every file below a folder with its bytes, its mode bits and where its links lead. */
function tree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (inner: string): void => {
    for (const name of readdirSync(inner).sort()) {
      const file = join(inner, name);
      const stats = lstatSync(file);
      const key = relative(folder, file);
      if (stats.isDirectory()) walk(file);
      else if (stats.isSymbolicLink()) found[key] = `link to ${readlinkSync(file)}`;
      else
        found[key] = `${(stats.mode & 0o777).toString(8)} ${readFileSync(file).toString('base64')}`;
    }
  };
  walk(folder);
  return found;
}

async function move(
  { client, sessionId }: Pick<ControlClient, 'client' | 'sessionId'>,
  method: 'session/rollback' | 'session/redo',
  more: object = {},
): Promise<Moved> {
  return (await client.call(method, { sessionId, ...more })) as unknown as Moved;
}

async function checkpoints({
  client,
  sessionId,
}: Pick<ControlClient, 'client' | 'sessionId'>): Promise<readonly Checkpoint[]> {
  return (await client.call('_pilothouse/checkpoints/list', { sessionId }))[
    'checkpoints'
  ] as Checkpoint[];
}

/** What the conversation is: the text of the current branch, as a load replays it. */
async function conversation(client: AcpTestClient, sessionId: string, cwd: string) {
  const from = client.updates.length;
  await client.call('session/load', { sessionId, cwd, mcpServers: [] });
  return client.updates
    .slice(from)
    .flatMap(({ update }) =>
      update.sessionUpdate === 'user_message_chunk' && update.content.type === 'text'
        ? [update.content.text]
        : [],
    );
}

async function restarted(home: string, one: ControlClient): Promise<ControlClient> {
  const { sessionId, folder } = one;
  const client = answering(startAgentCore(home), 'allow_once');
  await client.initialize(KNOWS_CONTROL);
  await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
  return { ...one, client };
}

const TURNS = [
  // Own tools: an edit that keeps CRLF, a new file in a new folder.
  'replace two with 2 in crlf.txt\nwrite sub/deep/new.txt: made\nfinish with one',
  // The shell: a removal, a change of mode bits, a binary file, a link, a file of a name that needs quotes.
  String.raw`run rm gone.txt && chmod 755 tool.sh && printf '\\000\\001\\377' > blob.bin && ln -s crlf.txt link && echo x > 'it is.txt'` +
    '\nfinish with two',
  // Both on the same files again.
  'run echo more >> crlf.txt && rm -r sub\nwrite blob.bin: text now\nfinish with three',
];

/** Files of all kinds before the first turn. */
function furnish(folder: string): void {
  writeFileSync(join(folder, 'crlf.txt'), 'one\r\ntwo\r\n');
  writeFileSync(join(folder, 'gone.txt'), 'was here\n');
  writeFileSync(join(folder, 'tool.sh'), '#!/bin/sh\n');
  chmodSync(join(folder, 'tool.sh'), 0o644);
  writeFileSync(join(folder, 'raw.bin'), Buffer.from([0, 255, 10, 13, 0]));
}

describe('going back over several turns', () => {
  it('gives every file and the conversation as they were, one by one, forth again and after a restart (A36)', async () => {
    const home = tempFolder('home');
    let one = await controlClient({ home, env: INSTANT });
    furnish(one.folder);
    const states = [tree(one.folder)];
    for (const text of TURNS) {
      expect((await one.client.prompt(one.sessionId, text))['stopReason']).toBe('end_turn');
      states.push(tree(one.folder));
    }
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(4);
    expect(await checkpoints(one)).toMatchObject(TURNS.map(() => ({ state: 'stack' })));

    const last = await move(one, 'session/rollback');
    expect(last.status).toBe('rolled_back');
    // How long the conversation was before the turn and after it.
    expect(last.afterMessageCount).toBeGreaterThan(last.beforeMessageCount);
    expect(tree(one.folder)).toEqual(states[2]);
    await one.client.close();
    one = await restarted(home, one);
    await move(one, 'session/rollback');
    expect(tree(one.folder)).toEqual(states[1]);
    const first = await move(one, 'session/rollback');
    expect(tree(one.folder)).toEqual(states[0]);
    expect(first.beforeMessageCount).toBe(0);
    expect(await conversation(one.client, one.sessionId, one.folder)).toEqual([]);
    await expect(move(one, 'session/rollback')).rejects.toMatchObject({
      data: { status: 'no_checkpoint' },
    });

    for (const [index, state] of states.slice(1).entries()) {
      const redone = await move(one, 'session/redo');
      expect(redone.status).toBe('redone');
      expect(tree(one.folder), `redo ${index + 1}`).toEqual(state);
    }
    expect(await conversation(one.client, one.sessionId, one.folder)).toEqual(TURNS);
    await expect(move(one, 'session/redo')).rejects.toMatchObject({ data: { status: 'no_redo' } });
    expect(
      await one.client.call('_pilothouse/history/verify', { sessionId: one.sessionId }),
    ).toEqual({ ok: true });
  });

  it('to an older turn by its id takes all later ones along, lists every file, and one redo brings them back (A36)', async () => {
    const one = await controlClient({ env: INSTANT });
    furnish(one.folder);
    const before = tree(one.folder);
    for (const text of TURNS) await one.client.prompt(one.sessionId, text);
    const after = tree(one.folder);
    const [oldest] = await checkpoints(one);
    const preview = (await one.client.call('_pilothouse/checkpoints/preview', {
      sessionId: one.sessionId,
      what: 'rollback',
      checkpointId: oldest?.checkpointId,
    })) as { files: { path: string }[]; coverage: string };
    expect(preview.coverage).toBe('full');
    const undone = await move(one, 'session/rollback', { checkpointId: oldest?.checkpointId });
    expect(tree(one.folder)).toEqual(before);
    const listed = undone.fsRestores[0]?.restoredPaths ?? [];
    expect([...listed].sort()).toEqual(preview.files.map(({ path }) => path).sort());
    for (const name of ['crlf.txt', 'gone.txt', 'tool.sh', 'blob.bin', 'link', 'it is.txt'])
      expect(listed).toContain(join(one.folder, name));
    await move(one, 'session/redo');
    expect(tree(one.folder)).toEqual(after);
    expect(await conversation(one.client, one.sessionId, one.folder)).toEqual(TURNS);
  });

  it('gives the first bytes of a file that was deleted and made anew, by tools and by the shell (A37)', async () => {
    const one = await controlClient({ env: INSTANT });
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0x00, 0xff]);
    for (const name of ['f', 'g']) writeFileSync(join(one.folder, name), bytes);
    await one.client.prompt(
      one.sessionId,
      'run rm f g\nwrite f: another\nrun echo another > g\nfinish with done',
    );
    expect(readFileSync(join(one.folder, 'f'), 'utf8')).toBe('another');
    await move(one, 'session/rollback');
    for (const name of ['f', 'g'])
      expect(readFileSync(join(one.folder, name)).equals(bytes), name).toBe(true);
  });
});

describe('a file that somebody changed since', () => {
  it('is left alone and named with the reason; the others go back; naming it overwrites it', async () => {
    const one = await controlClient({ env: INSTANT });
    const file = (name: string): string => join(one.folder, name);
    writeFileSync(file('a.txt'), 'a0\n');
    writeFileSync(file('b.txt'), 'b0\n');
    await one.client.prompt(
      one.sessionId,
      'replace a0 with a1 in a.txt\nrun echo b1 > b.txt; echo c1 > c.txt\nfinish with done',
    );
    writeFileSync(file('b.txt'), 'mine\n');
    const preview = await one.client.call('_pilothouse/checkpoints/preview', {
      sessionId: one.sessionId,
      what: 'rollback',
    });
    expect(preview['files']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: file('a.txt'), changedSince: false }),
        expect.objectContaining({ path: file('b.txt'), changedSince: true }),
      ]),
    );
    const undone = await move(one, 'session/rollback');
    expect(undone.fsRestores[0]?.skippedPathsWithReasons).toEqual([
      { path: file('b.txt'), reason: 'changed_since' },
    ]);
    expect(['a.txt', 'b.txt'].map((name) => readFileSync(file(name), 'utf8'))).toEqual([
      'a0\n',
      'mine\n',
    ]);
    expect(existsSync(file('c.txt'))).toBe(false);
    await move(one, 'session/redo');
    expect(['a.txt', 'b.txt', 'c.txt'].map((name) => readFileSync(file(name), 'utf8'))).toEqual([
      'a1\n',
      'mine\n',
      'c1\n',
    ]);
    const forced = await move(one, 'session/rollback', { overwrite: [file('b.txt')] });
    expect(forced.fsRestores[0]?.skippedPathsWithReasons).toEqual([]);
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('b0\n');
    // What was overwritten is not lost either.
    await move(one, 'session/redo');
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('mine\n');
  });

  it('is untouched where the turn never changed it (control)', async () => {
    const one = await controlClient({ env: INSTANT });
    await one.client.prompt(one.sessionId, 'write a.txt: x\nfinish with done');
    writeFileSync(join(one.folder, 'other.txt'), 'mine');
    const undone = await move(one, 'session/rollback');
    expect(undone.fsRestores[0]?.skippedPathsWithReasons).toEqual([]);
    expect(tree(one.folder)).toEqual({ 'other.txt': expect.stringContaining('bWluZQ==') });
  });
});

describe('what there is to go back to', () => {
  it('is refused while a turn runs, and nothing moves', async () => {
    const one = await controlClient({ env: INSTANT });
    await one.client.prompt(one.sessionId, 'write a.txt: x\nfinish with done');
    const turn = one.client.prompt(one.sessionId, 'run touch begun; sleep 30');
    await eventually(() => existsSync(join(one.folder, 'begun')), 'the tool');
    for (const method of ['session/rollback', 'session/redo'] as const)
      await expect(move(one, method)).rejects.toMatchObject({
        code: -32000,
        data: { status: 'prompt_active' },
      });
    expect(existsSync(join(one.folder, 'a.txt'))).toBe(true);
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect((await turn)['stopReason']).toBe('cancelled');
    expect(one.outcomes().filter((line) => /rollback|redo/.test(line))).toEqual([
      'session/rollback prompt_active rejected',
      'session/redo prompt_active rejected',
    ]);
  });

  it('is no stopped turn on the stack, but its id works', async () => {
    const one = await controlClient({ env: INSTANT });
    await one.client.prompt(one.sessionId, 'write kept.txt: x\nfinish with done');
    const turn = one.client.prompt(one.sessionId, 'run echo half > half.txt; sleep 30');
    await eventually(() => existsSync(join(one.folder, 'half.txt')), 'half of the work');
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    await turn;
    await one.client.prompt(one.sessionId, 'finish with nothing changed');
    const listed = await checkpoints(one);
    expect(listed.map(({ state }) => state)).toEqual(['stack', 'off', 'stack']);
    await move(one, 'session/rollback');
    expect(existsSync(join(one.folder, 'half.txt'))).toBe(true);
    await move(one, 'session/redo');
    await move(one, 'session/rollback', { checkpointId: listed[1]?.checkpointId });
    expect(existsSync(join(one.folder, 'half.txt'))).toBe(false);
    expect(existsSync(join(one.folder, 'kept.txt'))).toBe(true);
    await expect(
      move(one, 'session/rollback', { checkpointId: 'turn_nope' }),
    ).rejects.toMatchObject({ data: { status: 'unknown_checkpoint' } });
  });

  it('forward is gone after a new turn, a restored tool call, a commit and a discard of staged files', async () => {
    const one = await controlClient({ env: INSTANT });
    const { client, sessionId, folder } = one;
    const noRedo = async (why: string): Promise<void> => {
      await expect(move(one, 'session/redo'), why).rejects.toMatchObject({
        data: { status: 'no_redo' },
      });
    };
    await client.prompt(sessionId, 'write a.txt: a\nfinish with first');
    const call = client.updates.find(({ update }) => update.sessionUpdate === 'tool_call')?.update;
    const undo = async (): Promise<void> => {
      await client.prompt(sessionId, 'write b.txt: b\nfinish with second');
      await move(one, 'session/rollback');
      expect(existsSync(join(folder, 'b.txt'))).toBe(false);
    };
    await undo();
    await move(one, 'session/redo');
    expect(existsSync(join(folder, 'b.txt'))).toBe(true);
    await move(one, 'session/rollback');
    await client.prompt(sessionId, 'finish with new turn');
    await noRedo('a new turn');

    await undo();
    const restored = await client.call('session/restore_tool_call', {
      sessionId,
      toolCallId: (call as { toolCallId: string } | undefined)?.toolCallId,
    });
    expect(restored).toMatchObject({ restoredPaths: [join(folder, 'a.txt')] });
    expect(existsSync(join(folder, 'a.txt'))).toBe(false);
    await noRedo('a restored tool call');

    await client.call('session/fs_mode', { sessionId, mode: 'staged' });
    for (const method of ['session/fs_commit_staged', 'session/fs_discard_staged']) {
      await client.prompt(sessionId, 'write staged.txt: s\nfinish with staged');
      await client.prompt(sessionId, 'finish with undone');
      await move(one, 'session/rollback');
      await client.call(method, { sessionId });
      await noRedo(method);
    }
  });

  it('runs no filter, and leaves ignored files and the repository alone', async () => {
    const one = await controlClient({ env: INSTANT });
    const { client, sessionId, folder } = one;
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        encoding: 'utf8',
      });
    git('init', '-q');
    git('config', 'filter.lfs.clean', 'touch ran; tr a-z A-Z');
    git('config', 'filter.lfs.smudge', 'touch ran; tr A-Z a-z');
    git('config', 'core.autocrlf', 'true');
    writeFileSync(join(folder, '.gitattributes'), '*.big filter=lfs -text\n*.txt text eol=crlf\n');
    writeFileSync(join(folder, '.gitignore'), 'ignored/\n');
    writeFileSync(join(folder, 'a.big'), 'Mixed Case\n');
    writeFileSync(join(folder, 'b.txt'), 'unix\nends\n');
    mkdirSync(join(folder, 'ignored'));
    writeFileSync(join(folder, 'ignored/cache'), '1');
    git('add', '.gitignore');
    const [head, before] = [git('status', '--porcelain'), tree(folder)];
    rmSync(join(folder, 'ran'), { force: true });
    await client.prompt(
      sessionId,
      'run echo changed > a.big; echo changed > b.txt; echo 2 > ignored/cache\nfinish with done',
    );
    await move(one, 'session/rollback');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(readFileSync(join(folder, 'a.big'), 'utf8')).toBe('Mixed Case\n');
    expect(readFileSync(join(folder, 'b.txt'), 'utf8')).toBe('unix\nends\n');
    expect(readFileSync(join(folder, 'ignored/cache'), 'utf8')).toBe('2\n');
    expect(git('status', '--porcelain')).toBe(head);
    const without = (files: Record<string, string>): string[] =>
      Object.keys(files).filter((name) => !name.startsWith('.git/'));
    expect(without(tree(folder))).toEqual(without(before));
  });
});

describe('a fork', () => {
  it('at a place of the conversation goes its own way; each is told only of its own; an id is used once', async () => {
    const one = await controlClient({ env: INSTANT });
    const { client, sessionId, folder } = one;
    await client.prompt(sessionId, 'finish with shared');
    await client.prompt(sessionId, 'finish with parent only');
    const [, second] = await checkpoints(one);
    expect(second?.prompt).toContain('parent only');
    const fork = await client.call('session/fork', { sessionId, keep_first: 2, id: 'the-child' });
    expect(fork).toMatchObject({ sessionId: 'the-child', state: 'forked', parent_id: sessionId });
    const from = client.updates.length;
    await client.prompt('the-child', 'finish with child only');
    await client.prompt(sessionId, 'finish with parent again');
    const told = client.updates.slice(from);
    const textOf = (id: string): string =>
      told
        .filter((entry) => entry.sessionId === id)
        .map(({ update }) => JSON.stringify(update))
        .join('\n');
    expect(textOf('the-child')).not.toContain('parent again');
    expect(textOf(sessionId)).not.toContain('child only');
    expect(await conversation(client, 'the-child', folder)).toEqual([
      'finish with shared',
      'finish with child only',
    ]);
    expect(await conversation(client, sessionId, folder)).toEqual([
      'finish with shared',
      'finish with parent only',
      'finish with parent again',
    ]);
    await expect(client.call('session/fork', { sessionId, id: 'the-child' })).rejects.toMatchObject(
      { code: -32602, data: { reason: 'session_exists' } },
    );
    await expect(client.call('session/fork', { sessionId: 'nobody' })).rejects.toMatchObject({
      code: -32602,
    });
    // The child's own turns can be rolled back, the parent's are not touched by that.
    await move({ client, sessionId: 'the-child' }, 'session/rollback');
    expect(await conversation(client, 'the-child', folder)).toEqual(['finish with shared']);
    expect(await conversation(client, sessionId, folder)).toHaveLength(3);
  });
});
