import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCheckpoints } from '../../../src/core/checkpoint/create-checkpoints.ts';
import type { CheckpointLimits } from '../../../src/core/checkpoint/limits.ts';
import type { SessionCheckpoints } from '../../../src/core/checkpoint/session-checkpoints.ts';
import { systemClock } from '../../../src/core/host/node-ports.ts';
import type { CheckpointFiles } from '../../../src/core/session/control-events.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';

/** What a turn does: calls of own tools with the paths they say, or a command that says nothing. */
export type TurnScript = (turn: {
  /** A call that says which files it writes. */
  readonly tool: (files: readonly string[], run: () => unknown, id?: string) => Promise<void>;
  /** A shell command in the folder. */
  readonly shell: (command: string) => Promise<void>;
}) => Promise<void>;

type BenchOptions = {
  readonly limits?: Partial<CheckpointLimits>;
  readonly environment: NodeJS.ProcessEnv;
};

/** A working folder on disk and the checkpoints of a session there. */
export class CheckpointBench {
  readonly base: string;
  readonly root: string;
  readonly store: string;
  readonly warnings: string[] = [];
  checkpoints: SessionCheckpoints;
  readonly #options: BenchOptions;
  #turns = 0;
  #calls = 0;

  private constructor(base: string, options: BenchOptions) {
    this.base = base;
    this.root = path.join(base, 'work');
    this.store = path.join(base, 'data', 'checkpoints');
    this.#options = options;
    this.checkpoints = this.open('session-1');
  }

  static async create(
    options: { limits?: Partial<CheckpointLimits>; environment?: NodeJS.ProcessEnv } = {},
  ): Promise<CheckpointBench> {
    const base = await realpath(await mkdtemp(path.join(tmpdir(), 'pilothouse-checkpoint-')));
    await mkdir(path.join(base, 'work'));
    await mkdir(path.join(base, 'data'));
    return new CheckpointBench(base, { environment: process.env, ...options });
  }

  /** Another session's checkpoints, or the same session's after a restart. */
  open(sessionId: string, roots: readonly string[] = [this.root]): SessionCheckpoints {
    const note = (message: string): void => {
      this.warnings.push(message);
    };
    return createCheckpoints({
      sessionId: sessionId as SessionId,
      workspace: { cwd: roots[0] ?? this.root, roots },
      folder: this.store,
      environment: this.#options.environment,
      clock: systemClock,
      log: { debug: note, info: note, warn: note, error: note },
      ...(this.#options.limits === undefined ? {} : { limits: this.#options.limits }),
    });
  }

  async restart(): Promise<void> {
    await this.checkpoints.dispose();
    this.checkpoints = this.open('session-1');
  }

  async dispose(): Promise<void> {
    await this.checkpoints.dispose();
    await rm(this.base, { recursive: true, force: true });
  }

  path(name: string): string {
    return path.join(this.root, name);
  }

  async write(name: string, content: string | Uint8Array, mode?: number): Promise<void> {
    await mkdir(path.dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), content);
    if (mode !== undefined) chmodSync(this.path(name), mode);
  }

  text(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  exists(name: string): boolean {
    return lstatSync(this.path(name), { throwIfNoEntry: false }) !== undefined;
  }

  mode(name: string): number {
    return lstatSync(this.path(name)).mode & 0o7777;
  }

  link(name: string): string {
    return readlinkSync(this.path(name));
  }

  shell(command: string, cwd = this.root): string {
    return execFileSync('/bin/sh', ['-c', command], { cwd, encoding: 'utf8' });
  }

  git(command: string, cwd = this.root): string {
    const who = '-c user.name=t -c user.email=t@example.com -c commit.gpgsign=false';
    return this.shell(`git ${who} ${command}`, cwd);
  }

  /** Runs a turn and returns what its checkpoint says of files. */
  async turn(script: TurnScript, checkpoints = this.checkpoints): Promise<CheckpointFiles> {
    this.#turns += 1;
    const turnId = `turn-${this.#turns}` as TurnId;
    const effect = async (
      paths: readonly string[],
      run: () => unknown,
      id?: string,
    ): Promise<void> => {
      this.#calls += 1;
      const toolCallId = (id ?? `call-${this.#calls}`) as ToolCallId;
      await checkpoints.beforeEffect({ turnId, toolCallId, paths }, new AbortController().signal);
      await run();
    };
    await script({
      tool: (files, run, id) =>
        effect(
          files.map((name) => this.path(name)),
          run,
          id,
        ),
      shell: (command) => effect([], () => this.shell(command)),
    });
    const ended = await checkpoints.endTurn(turnId);
    if (ended === null) throw new Error('The turn had no effect');
    return ended.files;
  }

  /** Changed paths, as seen from the folder. */
  changed(files: CheckpointFiles): Record<string, string> {
    return Object.fromEntries(
      files.changed.map(({ path: file, change }) => [path.relative(this.root, file), change]),
    );
  }
}
