import type { Clock } from '../../../base/clock.ts';
import type { Recorder } from '../state/recorder.ts';
import type { MessageId, TurnId } from '../words.ts';

/** Streamed text is journaled at the latest after this time or size (design §5). */
const FLUSH_MS = 250;
const FLUSH_UNITS = 16 * 1024;

type Kind = 'text' | 'thought';
/** Offsets in UTF-16 units: delivered ≤ stored ≤ sent. `tail` is the text from `delivered` on. */
type Track = { delivered: number; stored: number; sent: number; tail: string };

/**
 * The text of one model reply: every chunk is shown at once and journaled in coalesced deltas. Offsets count UTF-16
 * units per kind. Journal failures reach the session through the recorder, not from here.
 */
export class TextStream {
  readonly messageId: MessageId;
  readonly #turnId: TurnId;
  readonly #recorder: Recorder;
  readonly #clock: Clock;
  readonly #tracks: Record<Kind, Track> = { text: emptyTrack(), thought: emptyTrack() };
  #timer: AbortController | null = null;

  constructor(turnId: TurnId, messageId: MessageId, recorder: Recorder, clock: Clock) {
    this.#turnId = turnId;
    this.messageId = messageId;
    this.#recorder = recorder;
    this.#clock = clock;
  }

  /** Text that was shown and is not yet in the delivered history, per kind. */
  partial(): readonly { kind: Kind; offset: number; text: string }[] {
    return (['thought', 'text'] as const).flatMap((kind) => {
      const track = this.#tracks[kind];
      return track.tail === '' ? [] : [{ kind, offset: track.delivered, text: track.tail }];
    });
  }

  get isEmpty(): boolean {
    return this.#tracks.text.sent === 0 && this.#tracks.thought.sent === 0;
  }

  add(kind: Kind, text: string): void {
    if (text === '') return;
    const other = kind === 'text' ? 'thought' : 'text';
    this.#flush(other);
    const track = this.#tracks[kind];
    this.#recorder.emit({
      type: 'message_chunk',
      turnId: this.#turnId,
      messageId: this.messageId,
      kind,
      offset: track.sent,
      text,
      afterEventId: this.#recorder.tip.lastEventId,
    });
    track.sent += text.length;
    track.tail += text;
    if (track.sent - track.stored >= FLUSH_UNITS) this.#flush(kind);
    else this.#arm();
  }

  /** Hands everything to the journal; the reply's own record must be appended after this. */
  end(): void {
    this.#timer?.abort();
    this.#timer = null;
    this.#flush('thought');
    this.#flush('text');
  }

  #flush(kind: Kind): void {
    const track = this.#tracks[kind];
    const offset = track.stored;
    if (track.sent === offset) return;
    const text = track.tail.slice(offset - track.delivered);
    track.stored = track.sent;
    const stored = this.#recorder.history({
      type: 'message_delta',
      turnId: this.#turnId,
      messageId: this.messageId,
      kind,
      offset,
      text,
    });
    stored.then(
      () => {
        track.delivered += text.length;
        track.tail = track.tail.slice(text.length);
      },
      // A failure latches in the recorder, which stops the turn; the text stays visible as partial.
      () => undefined,
    );
  }

  #arm(): void {
    if (this.#timer !== null) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.sleep(FLUSH_MS, timer.signal).then(
      () => {
        this.#timer = null;
        this.#flush('thought');
        this.#flush('text');
      },
      () => undefined,
    );
  }
}

function emptyTrack(): Track {
  return { delivered: 0, stored: 0, sent: 0, tail: '' };
}
