import { existsSync } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import type {
  Checkpoints,
  Effect,
  EndedTurn,
  RestorePlan,
  RestoreTarget,
} from '../session/checkpoints.ts';
import type { CheckpointFiles, RestoredFiles } from '../session/control-events.ts';
import type { SessionId, TurnId } from '../session/words.ts';
import type { CheckpointOptions } from './create-checkpoints.ts';
import { noteFile, sessionFolder, turnNoteFile } from './folder.ts';

/** The checkpoints of a session with the handle to end them. */
export interface OwnedCheckpoints extends Checkpoints {
  /** Ends what runs; every later call is refused. Idempotent, bounded. */
  dispose(): Promise<void>;
}

/** The checkpoints of a session, whose code is loaded when a turn has its first effect. */
export class LateCheckpoints implements OwnedCheckpoints {
  readonly #options: CheckpointOptions;
  #opening: Promise<OwnedCheckpoints> | null = null;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  async beforeEffect(effect: Effect, signal: AbortSignal): Promise<string | null> {
    try {
      return await (await this.#open()).beforeEffect(effect, signal);
    } catch (failure) {
      this.#options.log.error('The state before a tool call could not be kept', {
        error: messageOf(failure),
      });
      return messageOf(failure);
    }
  }

  async keep(): Promise<CheckpointFiles> {
    return (await this.#open()).keep();
  }

  async recoverTurn(turnId: TurnId): Promise<CheckpointFiles | null> {
    const { folder, sessionId } = this.#options;
    if (!existsSync(turnNoteFile(sessionFolder(folder, sessionId)))) return null;
    return (await this.#open()).recoverTurn(turnId);
  }

  async endTurn(turnId: TurnId): Promise<EndedTurn | null> {
    // Nothing was loaded, so nothing had an effect.
    return this.#opening === null ? null : (await this.#opening).endTurn(turnId);
  }

  async settled(): Promise<void> {
    await (await this.#opening)?.settled();
  }

  async recover(isRecorded: (undo: string) => boolean): Promise<void> {
    const { folder, sessionId } = this.#options;
    if (!existsSync(noteFile(sessionFolder(folder, sessionId)))) return;
    await (await this.#open()).recover(isRecorded);
  }

  async plan(target: RestoreTarget): Promise<RestorePlan> {
    return (await this.#open()).plan(target);
  }

  async restore(
    target: RestoreTarget,
    overwrite: 'all' | readonly string[],
  ): Promise<RestoredFiles> {
    return (await this.#open()).restore(target, overwrite);
  }

  async read(
    target: RestoreTarget,
    path: string,
    side: 'now' | 'then',
  ): Promise<Uint8Array | null> {
    return (await this.#open()).read(target, path, side);
  }

  async dispose(): Promise<void> {
    await (await this.#opening)?.dispose();
  }

  #open(): Promise<OwnedCheckpoints> {
    this.#opening ??= import('./create-checkpoints.ts').then((room) =>
      room.createCheckpoints(this.#options),
    );
    return this.#opening;
  }
}

/** Removes all that is kept of a session's files. */
export async function forgetCheckpoints(folder: string, sessionId: SessionId): Promise<void> {
  const { deleteCheckpoints } = await import('./create-checkpoints.ts');
  await deleteCheckpoints(folder, sessionId);
}
