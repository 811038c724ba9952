import path from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { codeOf } from '../../../base/errors.ts';
import type { Held } from '../entry.ts';
import type { CheckpointLimits } from '../limits.ts';
import { type FileStats, statsOf } from './file-stats.ts';
import { Fields, stagedOf } from './git-output.ts';
import { type Git, GitError } from './run-git.ts';
import { clearLocks, forgetIndex, openShadow, type ShadowPlace } from './shadow-folder.ts';
import type { Snapshot } from './snapshot.ts';

/** What a shadow store is made of. */
export type ShadowParts = {
  readonly git: Git;
  readonly gitDir: string;
  readonly root: string;
  readonly ownFolder: string;
  readonly limits: CheckpointLimits;
  readonly clock: Clock;
};

/** New and changed files of a root, and what of them is not kept. */
type Candidates = {
  readonly fresh: readonly string[];
  readonly changed: readonly string[];
  readonly tooBig: readonly string[];
  readonly nested: readonly string[];
  readonly unreadableNames: number;
};

/** What a snapshot is for: a turn's first effect, its end, or a person who has the files kept. */
export type SnapshotKind = 'before' | 'after' | 'kept';

type Run = { readonly until: number; readonly signal: AbortSignal };

/** From so many new files on they are written as one pack: thousands of loose files would take far longer. */
const PACK_FROM = 200;
const NAMED = 3;
/** Ignored files cost only their names; past this even those are too many. */
const IGNORED_PER_FILE = 10;

/**
 * The files of one root in a git store of our own: it keeps bytes, runs nothing, and never touches a repository of
 * the person. One call at a time.
 */
export class ShadowStore {
  readonly root: string;
  readonly #parts: ShadowParts;
  #place: ShadowPlace | null = null;

  constructor(parts: ShadowParts) {
    this.#parts = parts;
    this.root = parts.root;
  }

  /**
   * The root as it stands; its bytes are on disk. `before` and `kept`: also what is left alone, for a later comparison.
   * Throws `GitError`: the folder is over the budget, or git failed.
   */
  async snapshot(kind: SnapshotKind, signal: AbortSignal): Promise<Snapshot> {
    const { limits, clock } = this.#parts;
    const run: Run = { until: clock.now() + limits[`${kind}Ms`], signal };
    try {
      return await this.#snapshot(kind, run);
    } catch (failure) {
      if (codeOf(failure) !== 'git.failed') throw failure;
      // An index that a crash of the machine spoiled is only a cache.
      await forgetIndex(this.#parts.gitDir);
      return this.#snapshot(kind, run);
    }
  }

  async #snapshot(kind: SnapshotKind, run: Run): Promise<Snapshot> {
    const { limits } = this.#parts;
    const place = await this.#opened(run);
    const candidates = await this.#candidates(place, run);
    const incomplete = await this.#add(place, candidates, run);
    const files = await this.#files(place, run);
    const missing = candidates.fresh.filter(
      (name) => incomplete && !files.has(this.#absolute(place, name)),
    );
    const reasons = reasonsOf(candidates, missing, place.prefix, limits.fileBytes);
    if (kind === 'after') return { files, apart: [], emptyFolders: [], reasons };
    const ignored = await this.#names(place, run, ['--others', '--ignored', '--directory']);
    const rest = await this.#names(place, run, ['--others', '--directory']);
    const nested = new Set(candidates.nested);
    const apart = [...ignored, ...candidates.tooBig, ...missing, ...candidates.nested];
    const empty = rest.filter((name) => name.endsWith('/') && !nested.has(name));
    return {
      files,
      apart: apart.map((name) => this.#absolute(place, name)),
      emptyFolders: empty.map((name) => this.#absolute(place, name.slice(0, -1))),
      reasons,
    };
  }

  async #opened(run: Run): Promise<ShadowPlace> {
    const { git, gitDir, root, ownFolder } = this.#parts;
    if (this.#place === null) {
      const deadlineMs = this.#left(run);
      this.#place = await openShadow({
        git,
        gitDir,
        root,
        ownFolder,
        deadlineMs,
        signal: run.signal,
      });
    } else await clearLocks(gitDir);
    return this.#place;
  }

  /** What is new or not as it was; throws `git.too_much` past the budget. */
  async #candidates(place: ShadowPlace, run: Run): Promise<Candidates> {
    const { limits } = this.#parts;
    const fresh = new Set<string>();
    const changed = new Set<string>();
    const nested: string[] = [];
    const fields = new Fields((field) => {
      const name = field.slice(2);
      if (name.endsWith('/')) nested.push(name);
      else if (field.startsWith('?')) fresh.add(name);
      else changed.add(name);
    }, limits.files);
    await this.#list(place, run, fields, ['-t', '--others', '--modified', '--exclude-standard']);
    const tooBig: string[] = [];
    let bytes = 0;
    const look = [...fresh, ...changed].map((name) => this.#absolute(place, name));
    for await (const [file, found] of statsOf(look, run.signal)) {
      const size = found?.size ?? 0;
      const name = this.#name(place, file);
      if (size > limits.fileBytes && fresh.has(name)) tooBig.push(name);
      else bytes += size;
      if (bytes > limits.bytes)
        throw new GitError(
          'git.too_much',
          `The folder has more than ${mebibytes(limits.bytes)} MiB of new or changed files`,
        );
    }
    for (const name of tooBig) fresh.delete(name);
    const { unreadable } = fields;
    return {
      fresh: [...fresh],
      changed: [...changed],
      tooBig,
      nested,
      unreadableNames: unreadable,
    };
  }

  /** True if some files could not be read. */
  async #add(place: ShadowPlace, candidates: Candidates, run: Run): Promise<boolean> {
    const count = candidates.fresh.length + candidates.changed.length;
    if (count === 0) return false;
    const excluded = [...candidates.tooBig, ...candidates.nested.map((name) => name.slice(0, -1))];
    const specs = [scope(place), ...excluded.map((name) => `:(exclude,literal)${name}`)];
    const packed = count >= PACK_FROM ? (['-c', 'core.bigFileThreshold=1'] as const) : [];
    const code = await this.#run(
      place,
      run,
      [...packed, 'add', '-A', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'],
      { input: specs.join('\0'), accepts: [0, 1] },
    );
    return code !== 0;
  }

  async #files(place: ShadowPlace, run: Run): Promise<Map<string, Held>> {
    const { limits } = this.#parts;
    const files = new Map<string, { kind: Held['kind']; content: string; executable: boolean }>();
    const fields = new Fields((field) => {
      const staged = stagedOf(field);
      if (staged === null || staged.gitMode === '160000') return;
      files.set(this.#absolute(place, staged.name), {
        kind: staged.gitMode === '120000' ? 'link' : 'file',
        content: staged.object,
        executable: staged.gitMode === '100755',
      });
    }, limits.files);
    await this.#list(place, run, fields, ['--cached', '--stage']);
    const held = new Map<string, Held>();
    for await (const [file, found] of statsOf(files.keys(), run.signal)) {
      const staged = files.get(file);
      if (staged === undefined) continue;
      const { kind, content } = staged;
      held.set(file, { kind, content, mode: modeOf(kind, staged.executable, found) });
    }
    return held;
  }

  async #names(place: ShadowPlace, run: Run, what: readonly string[]): Promise<string[]> {
    const names: string[] = [];
    const fields = new Fields((field) => {
      names.push(field);
    }, this.#parts.limits.files * IGNORED_PER_FILE);
    await this.#list(place, run, fields, [...what, '--exclude-standard']);
    return names;
  }

  async #list(
    place: ShadowPlace,
    run: Run,
    fields: Fields,
    what: readonly string[],
  ): Promise<void> {
    const args = ['ls-files', '-z', ...what, '--', scope(place)];
    await this.#run(place, run, args, { onOutput: fields.take });
  }

  #run(
    { gitDir, top }: ShadowPlace,
    run: Run,
    args: readonly string[],
    more: {
      readonly input?: string;
      readonly accepts?: readonly number[];
      readonly onOutput?: (chunk: Buffer) => void;
    },
  ): Promise<number> {
    return this.#parts.git({
      args,
      cwd: top,
      gitDir,
      workTree: top,
      onOutput: () => undefined,
      ...more,
      deadlineMs: this.#left(run),
      signal: run.signal,
    });
  }

  #left(run: Run): number {
    return Math.max(1, run.until - this.#parts.clock.now());
  }

  #absolute(place: ShadowPlace, name: string): string {
    const native = path.sep === '/' ? name : name.replaceAll('/', path.sep);
    return `${place.top === path.sep ? '' : place.top}${path.sep}${native}`;
  }

  #name(place: ShadowPlace, file: string): string {
    const name = file.slice((place.top === path.sep ? '' : place.top).length + 1);
    return path.sep === '/' ? name : name.replaceAll(path.sep, '/');
  }
}

function scope(place: ShadowPlace): string {
  return place.prefix === '' ? '.' : `:(literal)${place.prefix}`;
}

function modeOf(kind: Held['kind'], executable: boolean, found: FileStats | null): number {
  if (kind === 'link') return 0;
  if (found === null || process.platform === 'win32') return executable ? 0o755 : 0o644;
  return found.mode;
}

function reasonsOf(
  candidates: Candidates,
  missing: readonly string[],
  prefix: string,
  fileBytes: number,
): readonly string[] {
  const { tooBig, nested, unreadableNames } = candidates;
  const list = (what: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${what}: ${shortList(names, prefix)}`];
  return [
    ...list('Repositories inside the folder are left alone', nested),
    ...list(`Files over ${mebibytes(fileBytes)} MiB are left out`, tooBig),
    ...list('Some files could not be read', missing),
    ...(unreadableNames === 0 ? [] : ['Some file names are no text and are left out']),
  ];
}

function shortList(names: readonly string[], prefix: string): string {
  const skip = prefix === '' ? 0 : prefix.length + 1;
  const shown = names.slice(0, NAMED).map((name) => name.slice(skip).replace(/\/$/, ''));
  const more = names.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / (1024 * 1024));
}
