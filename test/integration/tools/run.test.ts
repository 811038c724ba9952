import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessInfo, ToolOutcome } from '../../../src/core/session/tool.ts';
import { ToolBench, textOf } from '../../support/tools/tool-bench.ts';

let bench: ToolBench;
beforeEach(async () => {
  bench = await ToolBench.create({ run: { outputBytes: 2000, liveBytes: 4000 } });
});
afterEach(() => bench.dispose());

/** A command that notes the pid of a process two shells below, and then waits with it. */
const TREE = `sh -c 'sh -c "echo \\$\\$ > pid; exec sleep 99" & wait'`;

async function eventually<T>(look: () => T | null | Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
function notedPid(name = 'pid'): Promise<number> {
  return eventually(async () => {
    if (!existsSync(bench.path(name))) return null;
    const pid = Number((await readFile(bench.path(name), 'utf8')).trim());
    return pid > 0 ? pid : null;
  });
}
/** True for a process that runs; a zombie nobody has reaped yet does not. */
async function runs(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return status !== null && !/^\d+ \(.*\) Z/.test(status);
}
function raw(outcome: ToolOutcome): unknown {
  return outcome.rawOutput;
}

describe('run', () => {
  it('gives output of both kinds in order, and the exit code', async () => {
    const outcome = await bench.call('run', {
      command: 'echo one; echo two >&2; echo three; exit 3',
    });
    expect(textOf(outcome)).toBe('one\ntwo\nthree\n[Exit code 3.]');
    expect(outcome.status).toBe('failed');
    expect(raw(outcome)).toMatchObject({
      exitCode: 3,
      signal: null,
      sandboxed: false,
      truncated: false,
    });
    expect(bench.live).toBe('one\ntwo\nthree\n');
    expect(await bench.text('run', { command: 'true' })).toBe('[No output.]');
  });

  it('tells the signal that ended a command', async () => {
    expect(textOf(await bench.call('run', { command: 'kill -9 $$' }))).toBe(
      '[Ended by the signal SIGKILL.]',
    );
  });

  it('runs inside the workspace only', async () => {
    await mkdir(bench.path('a b'));
    await symlink('/', bench.path('out'));
    expect(await bench.text('run', { command: 'pwd', cwd: 'a b' })).toBe(bench.path('a b'));
    expect(await bench.refusal('run', { command: 'pwd', cwd: '..' })).toMatch(/outside/);
    expect(await bench.refusal('run', { command: 'pwd', cwd: 'out/etc' })).toMatch(/outside/);
    await writeFile(bench.path('file'), '');
    expect(await bench.refusal('run', { command: 'pwd', cwd: 'file' })).toMatch(/not a folder/);
  });

  it('gives a command that reads its input an end at once', async () => {
    expect(await bench.text('run', { command: 'cat; read x; echo done' })).toBe('done');
  });

  it('keeps what belongs to the host from the command', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      ELECTRON_RUN_AS_NODE: '1',
      OPENAI_API_KEY: 'k',
      PILOTHOUSE_HOME: '/x',
      KEPT: 'y',
    });
    const other = await ToolBench.create();
    try {
      const seen = await other.text('run', { command: 'env' });
      expect(seen).toContain('KEPT=y');
      expect(seen).not.toMatch(/ELECTRON_|OPENAI_|PILOTHOUSE_/);
    } finally {
      process.env = before;
      await other.dispose();
    }
  });

  it('of 50 MB keeps beginning and end in bounded memory (A38)', async () => {
    const before = process.memoryUsage.rss();
    const outcome = await bench.call('run', {
      command: `echo begin; head -c 50000000 /dev/zero | tr '\\0' 'x'; echo; echo end`,
    });
    const text = textOf(outcome);
    expect(text.startsWith('begin\nxxx')).toBe(true);
    expect(text.endsWith('xxx\nend')).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThan(2300);
    expect(raw(outcome)).toMatchObject({ truncated: true, totalBytes: 50_000_011 });
    expect(Buffer.byteLength(bench.live)).toBeLessThan(200_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('cuts between characters and survives binary output', async () => {
    const long = textOf(await bench.call('run', { command: "printf '€%.0s' $(seq 3000)" }));
    expect(long).not.toContain('\uFFFD');
    const binary = await bench.call('run', { command: 'head -c 20000 /dev/urandom' });
    expect(textOf(binary).isWellFormed()).toBe(true);
    expect(textOf(binary)).not.toContain('\0');
  });

  it('returns soon after the shell though a process holds its output open, and leaves that one alone', async () => {
    const outcome = await bench.call('run', { command: 'sleep 99 & echo $! > pid; echo started' });
    expect(textOf(outcome)).toBe('started');
    const pid = await notedPid();
    expect(await runs(pid)).toBe(true);
    await bench.processes.stopAll();
    expect(await runs(pid)).toBe(false);
  });

  it('ends the whole tree when it is stopped (A04, A22)', async () => {
    const stop = new AbortController();
    const call = bench.call('run', { command: `echo before; ${TREE}` }, stop.signal);
    const pid = await notedPid();
    stop.abort();
    const outcome = await call;
    expect(await runs(pid)).toBe(false);
    expect(outcome.status).toBe('failed');
    expect(textOf(outcome)).toBe('before\n[Stopped by the person.]');
    expect(raw(outcome)).toMatchObject({ stopped: true });
  });

  it('ends a tree that ignores the polite signal', async () => {
    const stop = new AbortController();
    const command = `trap '' TERM; sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 0.05; done'`;
    const call = bench.call('run', { command }, stop.signal);
    const pid = await notedPid();
    stop.abort();
    await call;
    expect(await runs(pid)).toBe(false);
  });

  it('ends the tree at its time limit', async () => {
    const outcome = await bench.call('run', { command: TREE, timeout_seconds: 0.5 });
    expect(textOf(outcome)).toMatch(/Ended after 0.5 seconds/);
    expect(raw(outcome)).toMatchObject({ timedOut: true });
    expect(await runs(await notedPid())).toBe(false);
  });

  it('does not start when it was stopped before', async () => {
    const outcome = await bench.call('run', { command: 'touch ran' }, AbortSignal.abort());
    expect(outcome.status).toBe('failed');
    expect(existsSync(bench.path('ran'))).toBe(false);
  });

  it('of one session is not ended by the Stop of another', async () => {
    const other = await ToolBench.create();
    try {
      const call = bench.call('run', { command: TREE, timeout_seconds: 30 });
      const pid = await notedPid();
      await other.processes.stopAll();
      await bench.launcher.stopSession(other.sessionId);
      expect(await runs(pid)).toBe(true);
      await bench.processes.stopAll();
      expect((await call).status).toBe('failed');
      expect(await runs(pid)).toBe(false);
    } finally {
      await other.dispose();
    }
  });

  it('shows a command of several lines by its first', async () => {
    const { preview, accesses } = await bench.prepare('run', { command: 'echo a\necho b' });
    expect(preview).toMatchObject({ title: 'echo a…', kind: 'execute' });
    expect(accesses).toEqual([{ kind: 'execute', command: 'echo a\necho b', cwd: bench.cwd }]);
  });
});

describe('background processes', () => {
  async function start(command: string): Promise<string> {
    const outcome = await bench.call('process_start', { command });
    const id = /^Started (\S+)\./.exec(textOf(outcome))?.[1];
    if (id === undefined) throw new Error(textOf(outcome));
    return id;
  }
  const output = (process_id: string, from = 0) =>
    bench.text('process_output', { process_id, from });

  it('say what they say, position by position, and tell their end', async () => {
    const ended = new Promise<ProcessInfo>((resolve) => bench.processes.onDidEnd(resolve));
    const id = await start('echo one; echo zwei ü; exit 4');
    expect(await ended).toMatchObject({
      processId: id,
      state: 'exited',
      exitCode: 4,
      startedAt: 1000,
    });
    expect(await output(id)).toMatch(/^one\nzwei ü\n\[.*exited with exit code 4.*from=12\.\]$/);
    expect(await output(id, 12)).toMatch(/No new output/);
    expect(await bench.text('process_list', {})).toContain(
      `${id}: exited with exit code 4: echo one`,
    );
  });

  it('are stopped with all they started, once', async () => {
    const ends: ProcessInfo[] = [];
    bench.processes.onDidEnd((info) => ends.push(info));
    const id = await start(TREE);
    const pid = await notedPid();
    expect(await bench.text('process_stop', { process_id: id })).toContain('stopped');
    expect(await runs(pid)).toBe(false);
    await bench.text('process_stop', { process_id: id });
    expect(ends).toHaveLength(1);
    expect(ends[0]).toMatchObject({ processId: id, state: 'stopped' });
  });

  it('all end when the session ends, and none can be started after', async () => {
    await start(TREE);
    const pid = await notedPid();
    await bench.processes.dispose();
    expect(await runs(pid)).toBe(false);
    expect((await bench.call('process_start', { command: 'ls' })).status).toBe('failed');
  });

  it('keep only the end of a long output, between characters', async () => {
    const ended = new Promise((resolve) => bench.processes.onDidEnd(resolve));
    const id = await start("head -c 3000000 /dev/zero | tr '\\0' 'x'; printf '€end'");
    await ended;
    const info = bench.processes.list()[0];
    const all = info && bench.processes.output(info.processId, 0, 10_000_000);
    expect(all?.next).toBe(3_000_006);
    expect(all?.text).toMatch(/^\[… \d+ earlier bytes are not kept …\]\nx+€end$/);
    expect(Buffer.byteLength(all?.text ?? '')).toBeLessThan(1024 * 1024 + 100);
    expect(await output(id, 3_000_000)).toMatch(/^€end\n/);
  });

  it('are limited in number, and unknown ones are named', async () => {
    for (let i = 0; i < 16; i += 1) await start('sleep 99');
    const refused = await bench.call('process_start', { command: 'sleep 99' });
    expect(textOf(refused)).toMatch(/16 background processes/);
    const unknown = await bench.call('process_output', { process_id: 'nope' });
    expect(textOf(unknown)).toMatch(/no background process nope/);
  });

  it('can be ended at once when this program exits', async () => {
    const id = await start(TREE);
    const pid = await notedPid();
    const ended = new Promise<ProcessInfo>((resolve) => bench.processes.onDidEnd(resolve));
    bench.launcher.killAll();
    expect(await ended).toMatchObject({ processId: id, signal: 'SIGKILL' });
    await eventually(async () => ((await runs(pid)) ? null : true));
  });
});

describe('a program that is not there', () => {
  it('is told as such', async () => {
    expect(textOf(await bench.call('run', { command: 'no-such-program-x' }))).toMatch(
      /not found[\s\S]*Exit code 127/,
    );
    expect(path.isAbsolute(bench.cwd)).toBe(true);
  });
});
