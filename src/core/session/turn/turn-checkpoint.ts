import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Checkpoints, EndedTurn } from '../checkpoints.ts';
import type { Log, NewRecord } from '../ports.ts';
import type { ParkedTurn } from '../state/parked.ts';
import type { Recorder } from '../state/recorder.ts';
import type { CheckpointId, CheckpointPolicy, TurnId } from '../words.ts';
import { ABORTED, abortReason, orAborted } from './aborts.ts';
import { CheckpointRequired, notKept } from './checkpoint-required.ts';
import { cancelledEnding, closedEnding, type Ending, runtimeErrorEnding } from './terminal.ts';

/** What the checkpoint of a turn is taken with. */
export type TurnCheckpointParts = {
  /** Null where no checkpoints are kept. */
  readonly checkpoints: Checkpoints | null;
  readonly policy: CheckpointPolicy;
  readonly recorder: Pick<Recorder, 'onSignal' | 'append'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly messageCount: () => number;
};

/** A turn's ending as it is sealed, with what is journaled together with it. */
export type SealedEnding = { readonly ending: Ending; readonly records: readonly NewRecord[] };

/** How long the end of a session waits for the files of the turn that it stopped. */
const CLOSING_MS = 1_500;

/** What a turn left; `lacks` is why something is lacking that should be kept, or null. */
type Left = { readonly files: EndedTurn['files'] | null; readonly lacks: string | null };

/** The checkpoint of one turn. It belongs to the turn's end, or comes behind it when the turn was stopped. */
export class TurnCheckpoint {
  readonly #parts: TurnCheckpointParts;
  readonly #turnId: TurnId;
  readonly #beforeMessages: number;
  #beforeEvent = 0;
  #files: Promise<Left> | null = null;

  /** To be made before the turn's first event is journaled; `parked` is how a turn began that goes on. */
  constructor(parts: TurnCheckpointParts, turnId: TurnId, parked: ParkedTurn['before'] | null) {
    this.#parts = parts;
    this.#turnId = turnId;
    this.#beforeMessages = parked?.messageCount ?? parts.messageCount();
    if (parked !== null) {
      this.#beforeEvent = parked.eventId;
      return;
    }
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
    const left = await files;
    const fault = this.#faultOf(left, signal);
    return {
      ending: fault === null ? ending : runtimeErrorEnding(notKept(fault).message),
      records: this.#records(true, left, fault),
    };
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

  async #journal(files: Promise<Left>, isClosing: boolean): Promise<void> {
    const { clock, recorder } = this.#parts;
    const inTime = new AbortController();
    const tooLate = (): typeof ABORTED => ABORTED;
    const late = isClosing ? clock.sleep(CLOSING_MS, inTime.signal).then(tooLate, tooLate) : files;
    const kept = await Promise.race([files, late]);
    inTime.abort();
    const left: Left =
      kept === ABORTED ? { files: null, lacks: 'The session ended before they were read' } : kept;
    const fault = this.#faultOf(left);
    if (kept === ABORTED && fault === null) return;
    const records = this.#records(false, left, fault);
    if (records.length > 0) await recorder.append(records);
  }

  #endFiles(): Promise<Left> | null {
    const { checkpoints, policy } = this.#parts;
    if (checkpoints === null) return null;
    const nothing: Left = { files: null, lacks: null };
    if (policy === 'off') return Promise.resolve(nothing);
    this.#files ??= checkpoints.endTurn(this.#turnId).then(
      (ended) => ended ?? nothing,
      (failure: unknown) => {
        this.#warn(failure);
        return { files: null, lacks: messageOf(failure) };
      },
    );
    return this.#files;
  }

  /** Why no turn may begin after this one, or null. */
  #faultOf({ lacks }: Left, signal?: AbortSignal): string | null {
    if (this.#parts.policy !== 'required') return null;
    const reason = signal?.aborted === true ? abortReason(signal) : null;
    const cause = reason?.kind === 'failed' ? reason.cause : null;
    const known = cause instanceof CheckpointRequired ? cause.data['lacks'] : null;
    return lacks ?? (typeof known === 'string' ? known : null);
  }

  #warn(failure: unknown): void {
    const details = { turnId: this.#turnId, error: messageOf(failure) };
    this.#parts.log.warn('The files of a turn could not be kept', details);
  }

  #records(onStack: boolean, { files }: Left, fault: string | null): readonly NewRecord[] {
    const { ids, messageCount } = this.#parts;
    const afterMessageCount = messageCount();
    const isNothing =
      afterMessageCount === this.#beforeMessages && (files?.changed.length ?? 0) === 0;
    if (isNothing && fault === null) return [];
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
          ...(fault === null ? {} : { fault }),
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
