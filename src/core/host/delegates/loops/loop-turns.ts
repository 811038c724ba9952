import type { DelegateOutcome } from '../../../session/commands/command.ts';
import type { HistoryEvent } from '../../../session/events.ts';
import { addUsage, NO_USAGE } from '../../../session/turn/budget.ts';
import type {
  CommandId,
  MessageId,
  SessionConfig,
  Terminal,
  TurnId,
  Usage,
} from '../../../session/words.ts';
import { type TurnSpent, withUsage } from '../narrow/narrowing.ts';

/** A turn of a loop as far as it came. */
export type LoopTurn = {
  readonly turnId: TurnId;
  readonly commandId: CommandId;
  readonly config: SessionConfig;
  readonly startedAt: number;
  readonly steps: number;
  readonly usage: Usage;
  /** The newest message with words, perhaps cut. */
  readonly text: string;
  readonly terminal: Terminal | null;
};

/** The turns of a loop: what each said last, what it used and how it ended; the same fold live and from the store. */
export class LoopTurns {
  readonly #turns = new Map<CommandId, LoopTurn>();
  #newest: LoopTurn | null = null;
  #message: {
    readonly messageId: MessageId;
    readonly text: string;
    readonly isThere: boolean;
  } | null = null;
  /** What delegates of the newest turn used. */
  #given: TurnSpent = NOTHING;

  get newest(): LoopTurn | null {
    return this.#newest;
  }

  /** The turn that a request began; undefined if it never did. */
  of(commandId: CommandId): LoopTurn | undefined {
    return this.#turns.get(commandId);
  }

  /** What the newest turn has used at a time, with what its delegates did. */
  spent(now: number): TurnSpent {
    const turn = this.#newest;
    if (turn === null || turn.terminal !== null) return NOTHING;
    const own = { steps: turn.steps, elapsedMs: now - turn.startedAt, usage: turn.usage };
    return withUsage(own, this.#given.usage);
  }

  apply(event: HistoryEvent, at: number): void {
    switch (event.type) {
      case 'turn_started': {
        const { turnId, commandId, config } = event;
        const begun = { turnId, commandId, config, startedAt: at, steps: 0 };
        this.#set({ ...begun, usage: NO_USAGE, text: '', terminal: null });
        this.#given = NOTHING;
        break;
      }
      case 'message_delta':
        if (event.kind === 'text') this.#say(event.messageId, event.text);
        break;
      case 'model_replied':
        this.#change((turn) => ({
          ...turn,
          steps: turn.steps + 1,
          usage: addUsage(turn.usage, event.usage),
        }));
        break;
      case 'delegate_ended':
        this.#given = withUsage(this.#given, event.usage);
        break;
      case 'turn_ended':
        this.#change((turn) => ({ ...turn, terminal: event.terminal }));
        break;
      default:
        break;
    }
  }

  #say(messageId: MessageId, piece: string): void {
    const before = this.#message?.messageId === messageId ? this.#message : null;
    const text = (before?.text ?? '') + piece;
    // Only the new piece is looked at: a long text comes in very many.
    const isThere = before?.isThere === true || piece.trim() !== '';
    this.#message = { messageId, text, isThere };
    if (isThere) this.#change((turn) => ({ ...turn, text }));
  }

  #change(change: (turn: LoopTurn) => LoopTurn): void {
    if (this.#newest !== null) this.#set(change(this.#newest));
  }

  #set(turn: LoopTurn): void {
    this.#newest = turn;
    this.#turns.set(turn.commandId, turn);
  }
}

const NOTHING: TurnSpent = { steps: 0, elapsedMs: 0, usage: NO_USAGE };

/** What a turn's end means for the request that began it. */
export function outcomeOf(terminal: Terminal | null): DelegateOutcome {
  switch (terminal?.kind) {
    case undefined:
    case 'runtime_error':
      return 'interrupted';
    case 'natural':
    case 'unknown':
      return 'completed';
    case 'user_cancelled':
      return 'cancelled';
    default:
      return 'failed';
  }
}

/** What the parent reads of a turn: its last words, and why there are no better ones. */
export function resultText(turn: LoopTurn | undefined, why = reasonOf(turn)): string {
  const said = turn?.text.trim() ?? '';
  if (why === null) return said === '' ? 'It ended without a word.' : said;
  return said === '' ? why : `${said}\n[${why}]`;
}

function reasonOf(turn: LoopTurn | undefined): string | null {
  if (turn === undefined) return 'It never began: the program that ran it ended before.';
  if (turn.terminal === null) return 'It broke off: the program that ran it ended.';
  return outcomeOf(turn.terminal) === 'completed' ? null : turn.terminal.reason;
}
