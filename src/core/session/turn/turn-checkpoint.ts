import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Checkpoints } from '../checkpoints.ts';
import type { CheckpointFiles } from '../control-events.ts';
import type { Log, NewRecord } from '../ports.ts';
import type { Recorder } from '../state/recorder.ts';
import type { CheckpointId, TurnId } from '../words.ts';
import { ABORTED, abortReason, orAborted } from './aborts.ts';
import { cancelledEnding, closedEnding, type Ending } from './terminal.ts';

/** What the checkpoint of a turn is taken with. */
export type TurnCheckpointParts = {
  /** Null where no checkpoints are kept. */
  readonly checkpoints: Checkpoints | null;
  readonly recorder: Pick<Recorder, 'onSignal' | 'append'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly messageCount: () => number;
};

/** A turn's ending as it is sealed, with what is journaled together with it. */
export type SealedEnding = { readonly ending: Ending; readonly records: readonly NewRecord[] };

/** How long the end of a session waits for the files of the turn that it stopped. */
const CLOSING_MS = 2_000;

/** The checkpoint of one turn. It belongs to the turn's end, or comes behind it when the turn was stopped. */
export class TurnCheckpoint {
  readonly #parts: TurnCheckpointParts;
  readonly #turnId: TurnId;
  readonly #beforeMessages: number;
  #beforeEvent = 0;
  #files: Promise<CheckpointFiles | null> | null = null;

  /** To be made before the turn's first event is journaled. */
  constructor(parts: TurnCheckpointParts, turnId: TurnId) {
    this.#parts = parts;
    this.#turnId = turnId;
    this.#beforeMessages = parts.messageCount();
    const subscription = parts.recorder.onSignal((signal) => {
      if (signal.stream !== 'history') return;
      const { seq, event } = signal.record;
      if (event.type !== 'turn_started' || event.turnId !== turnId) return;
      this.#beforeEvent = seq - 1;
      subscription.dispose();
    });
  }

  /** The ending with its checkpoint. A turn that was stopped, also while its files are read, is sealed without. */
  async seal(ending: Ending, signal: AbortSignal): Promise<SealedEnding> {
    // What it started may still be ending.
    if (ending.stopReason === 'cancelled') return { ending, records: [] };
    const files = this.#endFiles();
    if (files === null) return { ending, records: [] };
    if (!signal.aborted) await orAborted(files, signal);
    const stopped = stoppedEnding(signal);
    if (stopped !== null) return { ending: stopped, records: [] };
    return { ending, records: this.#records(true, await files) };
  }

  /** Journals the checkpoint of a turn that was stopped, once that is sealed; null if there is nothing to do. */
  late(ending: Ending): Promise<void> | null {
    if (ending.stopReason !== 'cancelled') return null;
    const files = this.#endFiles();
    if (files === null) return null;
    return this.#journal(files, ending.terminal.kind !== 'user_cancelled').catch(
      (failure: unknown) => this.#warn(failure),
    );
  }

  async #journal(files: Promise<CheckpointFiles | null>, isClosing: boolean): Promise<void> {
    const { clock, recorder } = this.#parts;
    const inTime = new AbortController();
    const tooLate = (): typeof ABORTED => ABORTED;
    const late = isClosing ? clock.sleep(CLOSING_MS, inTime.signal).then(tooLate, tooLate) : files;
    const kept = await Promise.race([files, late]);
    inTime.abort();
    if (kept === ABORTED) return;
    const records = this.#records(false, kept);
    if (records.length > 0) await recorder.append(records);
  }

  #endFiles(): Promise<CheckpointFiles | null> | null {
    const { checkpoints } = this.#parts;
    if (checkpoints === null) return null;
    this.#files ??= checkpoints.endTurn(this.#turnId).catch((failure: unknown) => {
      this.#warn(failure);
      return null;
    });
    return this.#files;
  }

  #warn(failure: unknown): void {
    const details = { turnId: this.#turnId, error: messageOf(failure) };
    this.#parts.log.warn('The files of a turn could not be kept', details);
  }

  #records(onStack: boolean, files: CheckpointFiles | null): readonly NewRecord[] {
    const { ids, messageCount } = this.#parts;
    const afterMessageCount = messageCount();
    if (afterMessageCount === this.#beforeMessages && (files?.changed.length ?? 0) === 0) return [];
    return [
      {
        stream: 'history',
        event: {
          type: 'turn_checkpoint',
          turnId: this.#turnId,
          checkpointId: `turn_${ids.unique().replaceAll('-', '')}` as CheckpointId,
          onStack,
          beforeMessageCount: this.#beforeMessages,
          afterMessageCount,
          beforeEventId: this.#beforeEvent,
          files,
        },
      },
    ];
  }
}

/** How a turn ends that somebody stopped after it had come to its own end; null if nobody did. */
function stoppedEnding(signal: AbortSignal): Ending | null {
  if (!signal.aborted) return null;
  const reason = abortReason(signal);
  if (reason.kind === 'cancelled') return cancelledEnding(reason.why);
  return reason.kind === 'closed' ? closedEnding(reason.why) : null;
}
