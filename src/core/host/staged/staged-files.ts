import type { Disposable } from '../../../base/disposables.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { ControlRefused } from '../../session/control/refusal.ts';
import type { StagedState, StagedVersion } from '../../session/control/staged.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { SessionSignal } from '../../session/events.ts';
import type { Staging, Workspace } from '../../session/tool.ts';
import type { FsMode, ToolCallId } from '../../session/words.ts';
import type { DiskPlace, DiskRefusal } from '../../tools/files/staged-disk.ts';
import type { StagedFile } from '../controls/api.ts';

/** What staged files need of their session. */
export interface StagingSession {
  recordControl(...events: readonly ControlEvent[]): Promise<void>;
  announce(event: EphemeralEvent): void;
  subscribe(listener: (signal: SessionSignal) => void): { readonly subscription: Disposable };
}

export type CommitResult = {
  readonly committedPaths: readonly string[];
  readonly failedPathsWithReasons: readonly { readonly path: string; readonly reason: string }[];
};

/** All of one act on the disk, in milliseconds; an editor that does not answer must not hold it forever. */
const DEADLINE_MS = 60_000;

/**
 * The staged files of one live session. Its acts go one after another: a commit never meets a tool that stages.
 * Everything is journaled before it counts; the disk is written before its files count as committed, and a crash
 * in between leaves them staged, where a repeated commit finds them written already.
 */
export class StagedFiles implements Staging {
  readonly #state: StagedState;
  readonly #place: DiskPlace;
  #session: StagingSession | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /** `state` is folded from the stored events; from `attach` on it follows the session. */
  constructor(state: StagedState, place: DiskPlace) {
    this.#state = state;
    this.#place = place;
  }

  /** Begins to follow the session; called once, before anything is staged. */
  attach(session: StagingSession): void {
    this.#session = session;
    session.subscribe((signal) => {
      if (signal.stream === 'control') this.#state.applyControl(signal.record.event);
      if (signal.stream !== 'history') return;
      if (this.#state.applyHistory(signal.record.seq, signal.record.event)) this.#announce();
    });
  }

  get mode(): FsMode {
    return this.#state.mode;
  }

  get workspace(): Workspace {
    return this.#place.workspace;
  }

  staged(path: string): { readonly text: string | null } | undefined {
    return this.#state.file(path);
  }

  paths(): readonly string[] {
    return this.#state.files().map(({ path }) => path);
  }

  stages(path: string): boolean {
    return this.#state.mode === 'staged' || this.#state.file(path) !== undefined;
  }

  stage(
    { path, text, toolCallId }: { path: string; text: string; toolCallId: ToolCallId },
    base: () => Promise<string | null>,
  ): Promise<void> {
    return this.#alone(async () => {
      const before = this.#state.file(path);
      const held = before === undefined ? await base() : before.base;
      await this.#record({ type: 'file_staged', path, base: held, text, toolCallId });
    });
  }

  /** Takes effect with the next write, also of a running turn. What is staged stays so. */
  setMode(mode: FsMode, actor: Actor): Promise<FsMode> {
    return this.#alone(async () => {
      const previous = this.#state.mode;
      if (mode !== previous) await this.#record({ type: 'fs_mode_changed', mode, actor });
      return previous;
    });
  }

  /** Writes these files, or all; each whole or not at all, and what fails stays staged. */
  commit(paths: readonly string[] | undefined, actor: Actor): Promise<CommitResult> {
    return this.#alone(async () => {
      const committed: string[] = [];
      const failed: { path: string; reason: string }[] = [];
      const signal = AbortSignal.timeout(DEADLINE_MS);
      for (const path of paths ?? this.paths()) {
        const file = this.#state.file(path);
        const refusal =
          file === undefined ? { reason: 'not_staged' } : await this.#put(file, signal);
        if (refusal === null) committed.push(path);
        else failed.push({ path, reason: refusal.reason });
      }
      if (committed.length > 0) await this.#settle('committed', committed, actor);
      return { committedPaths: committed, failedPathsWithReasons: failed };
    });
  }

  /** Forgets these staged texts, or all. Throws `not_staged` if one of the named ones is not staged. */
  discard(paths: readonly string[] | undefined, actor: Actor): Promise<readonly string[]> {
    return this.#alone(async () => {
      const chosen = paths ?? this.paths();
      for (const path of chosen) this.#staged(path);
      if (chosen.length > 0) await this.#settle('discarded', chosen, actor);
      return chosen;
    });
  }

  /**
   * Writes `disk` now, if given, and leaves `staged` as what is staged, null for no file; a file with nothing left to
   * stage is settled. Throws `not_staged`, and `fs_restore_error` if `disk` could not be written.
   */
  edit(
    { path, disk, staged }: { path: string; disk?: string; staged: string | null },
    actor: Actor,
  ): Promise<void> {
    return this.#alone(async () => {
      const file = this.#staged(path);
      const text = staged?.toWellFormed() ?? null;
      const written = disk?.toWellFormed();
      if (written !== undefined) await this.#putPart(file, written);
      const base = written ?? file.base;
      const how = written === undefined ? 'discarded' : 'committed';
      const settled: ControlEvent = { type: 'staged_settled', how, paths: [path], actor };
      const { toolCallId } = file;
      const events: ControlEvent[] = [];
      // What was written is committed as such; earlier versions were made for what the disk held before.
      if (written !== undefined)
        events.push({ type: 'file_staged', path, base: file.base, text: written, toolCallId });
      if (written !== undefined || text === base) events.push(settled);
      if (text !== base) events.push({ type: 'file_staged', path, base, text, toolCallId });
      await this.#record(...events);
    });
  }

  /** All staged files, compared with what the disk holds now. */
  async list(): Promise<readonly StagedFile[]> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const { holds } = await stagedDisk();
    return Promise.all(
      this.#state.files().map(async ({ path, base, text }) => {
        const asBefore = await holds(path, base, this.#place, signal);
        const changedSince = !asBefore && !(await holds(path, text, this.#place, signal));
        return { path, base, text, changedSince };
      }),
    );
  }

  #staged(path: string): StagedVersion {
    const file = this.#state.file(path);
    if (file === undefined)
      throw new ControlRefused(
        'not_staged',
        `${path} is not staged. List the staged files to see which are.`,
        { path },
      );
    return file;
  }

  async #put(file: StagedVersion, signal: AbortSignal): Promise<DiskRefusal> {
    const { putStaged } = await stagedDisk();
    return putStaged(file, this.#place, signal);
  }

  async #putPart({ path, base }: StagedVersion, text: string): Promise<void> {
    const { putStaged } = await stagedDisk();
    const refusal = await putStaged(
      { path, base, text },
      this.#place,
      AbortSignal.timeout(DEADLINE_MS),
    );
    if (refusal !== null)
      throw new ControlRefused('fs_restore_error', refusal.message, { path, why: refusal.reason });
  }

  async #settle(
    how: 'committed' | 'discarded',
    paths: readonly string[],
    actor: Actor,
  ): Promise<void> {
    await this.#record({ type: 'staged_settled', how, paths, actor });
  }

  /** Resolves when the events are on disk and `#state` has them. */
  async #record(...events: readonly ControlEvent[]): Promise<void> {
    if (this.#session === null) throw new TypeError('Staged files belong to no session yet');
    await this.#session.recordControl(...events);
    this.#announce();
  }

  #announce(): void {
    this.#session?.announce({ type: 'staged_changed', mode: this.mode, paths: this.paths() });
  }

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act, act);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Loaded when it is needed: with the file tools, not with the start. */
function stagedDisk(): Promise<typeof import('../../tools/files/staged-disk.ts')> {
  return import('../../tools/files/staged-disk.ts');
}
