import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type {
  Checkpoints,
  Effect,
  EndedTurn,
  RestorePlan,
  RestoreTarget,
} from '../session/checkpoints.ts';
import type { CheckpointFiles, RestoredFiles } from '../session/control-events.ts';
import type { Log } from '../session/ports.ts';
import type { TurnId } from '../session/words.ts';
import { changeOf, type Entry } from './entry.ts';
import { CheckpointError } from './errors.ts';
import { FolderKeeper } from './folder-keeper.ts';
import { type Git, gitAt } from './git/run-git.ts';
import { ShadowStore } from './git/shadow-store.ts';
import type { CheckpointLimits } from './limits.ts';
import { presentAt, rootOf, sizeAt, wayTo } from './present.ts';
import { IntentNote } from './restore/intent.ts';
import { recover } from './restore/recover.ts';
import { Restorer } from './restore/restorer.ts';
import { Serial } from './serial.ts';
import { BlobStore } from './store/blob-store.ts';
import { CallLog } from './store/call-log.ts';
import { Contents } from './store/contents.ts';
import { StateStore } from './store/state-store.ts';
import { TurnNote } from './store/turn-note.ts';
import { type RootStates, turnChanges } from './turn-changes.ts';
import { recalled, rememberedAs } from './turn-memory.ts';
import { TurnRecord } from './turn-record.ts';

/** What the checkpoints of one session are made of. */
export type SessionCheckpointParts = {
  /** Absolute and canonical. */
  readonly roots: readonly string[];
  /** This session's own folder in the data folder. */
  readonly folder: string;
  /** The program's own folder: never looked at, also if it lies inside a root. */
  readonly ownFolder: string;
  /** The environment of children, already cleaned. */
  readonly environment: NodeJS.ProcessEnv;
  /** Where git is on this machine; null if it is nowhere. */
  readonly findGit: () => Promise<string | null>;
  readonly limits: CheckpointLimits;
  readonly clock: Clock;
  readonly log: Log;
};

const NO_GIT = 'git was not found, so only what the own tools wrote is known';
const BROKEN_OFF =
  'A crash broke this turn off. What changed until the session was opened again counts as its work';
const OUTSIDE = 'Some files lie outside the folders of the session';

/** The files of one session as its turns found and left them. Its calls run one after another. */
export class SessionCheckpoints implements Checkpoints {
  readonly #parts: SessionCheckpointParts;
  readonly #serial = new Serial();
  readonly #closing = new AbortController();
  readonly #calls: CallLog;
  readonly #blobs: BlobStore;
  readonly #states: StateStore;
  readonly #contents: Contents;
  readonly #restorer: Restorer;
  readonly #note: IntentNote;
  readonly #turnNote: TurnNote;
  readonly #keeper: FolderKeeper;
  #git: Promise<Git | null> | null = null;
  #shadows: readonly ShadowStore[] | null = null;
  #turn: TurnRecord | null = null;
  /** True until a turn of this process had an effect: the newest one may be of the process before. */
  #mayRecall = true;
  #loose: ReadonlySet<string> = new Set();
  #ready: Promise<void> | null = null;

  constructor(parts: SessionCheckpointParts) {
    const { folder, roots } = parts;
    this.#parts = parts;
    this.#calls = new CallLog(folder);
    this.#blobs = new BlobStore(path.join(folder, 'blobs'));
    this.#states = new StateStore(path.join(folder, 'states'));
    this.#note = new IntentNote(folder);
    this.#turnNote = new TurnNote(folder);
    this.#contents = new Contents(
      this.#blobs,
      path.join(folder, 'git'),
      () => this.#findGit(),
      this.#closing.signal,
    );
    this.#keeper = new FolderKeeper({
      open: () => this.#openShadows(),
      states: this.#states,
      signal: this.#closing.signal,
    });
    this.#restorer = new Restorer({
      roots,
      look: () => this.#keeper.look(),
      states: this.#states,
      calls: this.#calls,
      contents: this.#contents,
      note: this.#note,
    });
  }

  async beforeEffect(effect: Effect, signal: AbortSignal): Promise<string | null> {
    try {
      return await this.#next(() => this.#beforeEffect(effect, signal));
    } catch (failure) {
      this.#parts.log.error('The state before a tool call could not be kept', {
        toolCallId: effect.toolCallId,
        error: messageOf(failure),
      });
      return messageOf(failure);
    }
  }

  keep(): Promise<CheckpointFiles> {
    return this.#next(() => this.#keeper.keep());
  }

  recoverTurn(turnId: TurnId): Promise<CheckpointFiles | null> {
    return this.#next(async () => {
      const turn = await this.#recall(turnId);
      if (turn === null) return null;
      turn.reasons.add(BROKEN_OFF);
      return (await this.#endTurn(turn)).files;
    });
  }

  endTurn(turnId: TurnId): Promise<EndedTurn | null> {
    return this.#next(async () => {
      const turn = this.#turn;
      if (turn === null || turn.turnId !== turnId) return null;
      this.#turn = null;
      return this.#endTurn(turn);
    });
  }

  async settled(): Promise<void> {
    await this.#next(() => this.#restorer.settle()).catch((failure: unknown) =>
      this.#parts.log.error('A restore of files could not be settled', {
        error: messageOf(failure),
      }),
    );
  }

  async recover(isRecorded: (undo: string) => boolean): Promise<void> {
    this.#ready ??= this.#recover(isRecorded);
    await this.#ready;
  }

  plan(target: RestoreTarget): Promise<RestorePlan> {
    return this.#next(() => this.#restorer.plan(target));
  }

  restore(target: RestoreTarget, overwrite: 'all' | readonly string[]): Promise<RestoredFiles> {
    return this.#next(() => this.#restorer.restore(target, overwrite));
  }

  read(target: RestoreTarget, file: string, side: 'now' | 'then'): Promise<Uint8Array | null> {
    return this.#next(() => this.#restorer.read(target, file, side));
  }

  /** Ends what runs, by force where it is git. Every later call is refused. Idempotent. */
  async dispose(): Promise<void> {
    this.#closing.abort();
    await this.#serial.settled();
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    return this.#serial.run(async () => {
      if (this.#closing.signal.aborted)
        throw new CheckpointError('checkpoint.closed', 'The session is being closed.');
      this.#ready ??= this.#recover(() => false);
      await this.#ready;
      return work();
    });
  }

  #recover(isRecorded: (undo: string) => boolean): Promise<void> {
    return recover({
      note: this.#note,
      states: this.#states,
      contents: this.#contents,
      roots: this.#parts.roots,
      log: this.#parts.log,
      isRecorded,
    });
  }

  async #beforeEffect(effect: Effect, signal: AbortSignal): Promise<string | null> {
    await this.#restorer.settle();
    await this.#noteLeft();
    const { turnId } = effect;
    const known = this.#turn?.turnId === turnId ? this.#turn : await this.#recall(turnId);
    const turn = known ?? new TurnRecord(turnId, this.#parts.log);
    this.#turn = turn;
    this.#mayRecall = false;
    try {
      await this.#keepPreImages(turn, effect, known === null);
    } catch (failure) {
      turn.miss('Some files could not be kept before they were written');
      this.#warn('The pre-images of a tool call could not be kept', failure);
    }
    if (known === null) {
      await this.#snapshotBefore(turn, signal);
      await this.#remember(turn);
    }
    return turn.lacks;
  }

  /** A turn that this process does not know and that had an effect before it began. */
  async #recall(turnId: TurnId): Promise<TurnRecord | null> {
    if (!this.#mayRecall) return null;
    const beginning = await this.#turnNote.read(turnId);
    if (beginning === null) return null;
    const [calls, shadows] = [await this.#calls.ofTurn(turnId), await this.#openShadows()];
    return recalled(beginning, calls, shadows ?? [], this.#parts.log);
  }

  async #remember(turn: TurnRecord): Promise<void> {
    try {
      await this.#turnNote.write(rememberedAs(turn));
    } catch (failure) {
      turn.miss('What the turn found could not be written into the data folder');
      this.#warn('The beginning of a turn could not be kept', failure);
    }
  }

  #warn(what: string, failure: unknown): void {
    this.#parts.log.warn(what, { error: messageOf(failure) });
  }

  async #snapshotBefore(turn: TurnRecord, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const shadows = await this.#openShadows();
    if (shadows === null) turn.miss(NO_GIT);
    for (const shadow of shadows ?? [])
      turn.befores.set(shadow, await turn.snapshot(shadow, 'before', either));
  }

  async #keepPreImages(turn: TurnRecord, effect: Effect, first: boolean): Promise<void> {
    const { roots, limits } = this.#parts;
    const entries = new Map<string, Entry>();
    const folders = new Set<string>();
    for (const file of effect.paths) {
      const root = rootOf(file, roots);
      const way = root === null ? null : await wayTo(file, root);
      if (way === null || way.obstacle?.kind === 'link') {
        turn.reasons.add(OUTSIDE);
        continue;
      }
      if ((await sizeAt(file)) > limits.preImageBytes) {
        turn.miss('Some files are too big to be kept');
        continue;
      }
      const { entry, blocked } = await presentAt(file, this.#blobs);
      if (blocked !== null) continue;
      entries.set(file, entry);
      for (const folder of way.missing) folders.add(folder);
      turn.take(file, entry, way.missing, first);
    }
    if (entries.size === 0) return;
    const before = { entries, folders: [...folders] };
    await this.#calls.keepBefore(effect.toolCallId, effect.turnId, before);
    this.#loose = new Set(entries.keys());
  }

  /** What the last call left at its paths, before the next one can write there. */
  async #noteLeft(): Promise<void> {
    const files = [...this.#loose];
    this.#loose = new Set();
    await this.#calls.keepLeft(await this.#present(files));
  }

  async #endTurn(turn: TurnRecord): Promise<EndedTurn> {
    await this.#noteLeft();
    const roots = new Map<string, RootStates>();
    for (const [shadow, before] of turn.befores) {
      const after =
        before === null ? null : await turn.snapshot(shadow, 'after', this.#closing.signal);
      roots.set(shadow.root, { before, after });
    }
    const present = await this.#present([...turn.preImages.keys()]);
    const changes = turnChanges({ roots, preImages: turn.preImages, present });
    const then = await this.#contents.withKinds(changes.before);
    const { folders } = changes;
    const [reason] = turn.reasons;
    const files: CheckpointFiles = {
      before: await this.#states.keep({ entries: then, folders, left: null }),
      after: await this.#states.keep({ entries: changes.after, folders: [], left: null }),
      coverage: isWhole(turn.reasons) ? 'full' : 'partial',
      ...(reason === undefined ? {} : { reason: [...turn.reasons].join('. ') }),
      changed: [...then]
        .map(([file, entry]) => ({
          path: file,
          change: changeOf(entry, changes.after.get(file) ?? null),
        }))
        .sort((one, other) => (one.path < other.path ? -1 : 1)),
    };
    return { files, lacks: turn.lacks };
  }

  async #present(files: readonly string[]): Promise<Map<string, Entry>> {
    const present = new Map<string, Entry>();
    for (const file of files) present.set(file, (await presentAt(file, null)).entry);
    return present;
  }

  #findGit(): Promise<Git | null> {
    this.#git ??= this.#parts
      .findGit()
      .then((program) => (program === null ? null : gitAt(program, this.#parts.environment)));
    return this.#git;
  }

  async #openShadows(): Promise<readonly ShadowStore[] | null> {
    const git = await this.#findGit();
    if (git === null) return null;
    const { roots, folder, ownFolder, limits, clock } = this.#parts;
    this.#shadows ??= roots.map((root) => {
      const gitDir = path.join(folder, 'git', shortNameOf(root));
      return new ShadowStore({ git, gitDir, root, ownFolder, limits, clock });
    });
    return this.#shadows;
  }
}

/** That a crash broke the turn off says nothing of how much is known. */
function isWhole(reasons: ReadonlySet<string>): boolean {
  return [...reasons].every((reason) => reason === BROKEN_OFF);
}

function shortNameOf(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 16);
}
