import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { TurnId } from '../words.ts';
import { type Branch, branchOf, isOn, type Move } from './branch.ts';

type KeptEvent = Extract<HistoryEvent, { type: 'workspace_checkpointed' }>;
type CheckpointEvent = Extract<HistoryEvent, { type: 'turn_checkpoint' }>;
type MoveEvent = Extract<HistoryEvent, { type: 'history_moved' }>;

/** A checkpoint and where it stands. */
export type KnownCheckpoint = {
  /** The beginning of its turn: a stopped turn's checkpoint may come behind the next one's. */
  readonly seq: number;
  readonly at: number;
  readonly event: CheckpointEvent;
  /** The beginning of the turn's prompt. */
  readonly prompt: string;
};

/** A checkpoint as it can be reached: `stack` by a rollback, `redo` by a redo, `off` by its id alone. */
export type ReachableCheckpoint = KnownCheckpoint & { readonly state: 'stack' | 'redo' | 'off' };

/** Files that a person had kept, and where that stands. */
export type KeptFiles = { readonly seq: number; readonly at: number; readonly event: KeptEvent };

/** A rollback that a redo would take back. */
export type Undone = {
  readonly event: MoveEvent;
  /** The newest event before it: where a redo goes. */
  readonly to: number;
  readonly at: number;
};

const PROMPT_LENGTH = 200;

/**
 * What moves over a history: its branches, its checkpoints and what a redo would take back. Folded from the whole
 * history, event by event, and from the control stream; equal live and after a restart.
 */
export class Timeline {
  readonly #moves: Move[] = [];
  readonly #checkpoints: KnownCheckpoint[] = [];
  readonly #kept: KeptFiles[] = [];
  #fault: string | null = null;
  readonly #turns = new Map<TurnId, { readonly seq: number; readonly prompt: string }>();
  readonly #calls = new Set<string>();
  readonly #restores = new Set<string>();
  #undone: Undone[] = [];
  #tip = 0;

  get moves(): readonly Move[] {
    return this.#moves;
  }

  /** The current branch. */
  get branch(): Branch {
    return branchOf(this.#moves, this.#tip);
  }

  /** The branch that ended at an event. */
  branchAt(eventId: number): Branch {
    return branchOf(this.#moves, Math.min(eventId, this.#tip));
  }

  /** Rollbacks that can be taken back, the newest last. */
  get undone(): readonly Undone[] {
    return this.#undone;
  }

  /** Files that a person had kept, oldest first; they belong to no branch. */
  get kept(): readonly KeptFiles[] {
    return this.#kept;
  }

  /** Why the files of a turn could not be kept that had to be, until a person had them kept; else null. */
  get fault(): string | null {
    return this.#fault;
  }

  /** The event before the turn began; null if it never did. */
  beginningOf(turnId: TurnId): number | null {
    const known = this.#turns.get(turnId);
    return known === undefined ? null : known.seq - 1;
  }

  /** The checkpoints of a branch, oldest first. */
  checkpointsOn(branch: Branch): readonly KnownCheckpoint[] {
    return this.#checkpoints.filter(({ seq }) => isOn(branch, seq));
  }

  /** All that a rollback or a redo can still reach, oldest first. */
  reachable(): readonly ReachableCheckpoint[] {
    const branch = this.branch;
    const undone = this.#undone.map(({ to }) => this.branchAt(to));
    return this.#checkpoints.flatMap((checkpoint): ReachableCheckpoint[] => {
      const { seq, event } = checkpoint;
      const isHere = isOn(branch, seq);
      if (!isHere && !undone.some((lost) => isOn(lost, seq))) return [];
      const known = isHere ? 'stack' : 'redo';
      return [{ ...checkpoint, state: event.onStack ? known : 'off' }];
    });
  }

  /** Takes the next event of the history; `at` in milliseconds since the epoch. */
  applyHistory(event: HistoryEvent, at: number): void {
    // A history is numbered from 1 without gaps.
    this.#tip += 1;
    switch (event.type) {
      case 'turn_started':
        this.#turns.set(event.turnId, { seq: this.#tip, prompt: beginningOf(event.content) });
        this.#undone = [];
        break;
      case 'tool_proposed':
        this.#calls.add(event.toolCallId);
        break;
      case 'turn_checkpoint':
        this.#addCheckpoint(event, at);
        this.#fault = event.fault ?? this.#fault;
        break;
      case 'workspace_checkpointed':
        this.#kept.push({ seq: this.#tip, at, event });
        if (event.trigger === 'manual') this.#fault = null;
        break;
      case 'history_moved':
        this.#move(event, at);
        break;
      case 'files_restored':
        this.#restores.add(event.files.undo);
        this.#undone = [];
        break;
      default:
        break;
    }
  }

  /** Staged files that were committed or discarded make an earlier rollback final. */
  applyControl(event: ControlEvent, at: number): void {
    if (event.type !== 'staged_settled') return;
    this.#undone = this.#undone.filter((undone) => undone.at > at);
  }

  /** True if the checkpoint exists in this session at all, whatever branch it is on. */
  knows(checkpointId: string): boolean {
    const known = [...this.#checkpoints, ...this.#kept];
    return known.some(({ event }) => event.checkpointId === checkpointId);
  }

  /** True if an event tells of the restore of files whose undo this is. */
  knowsRestore(undo: string): boolean {
    return this.#restores.has(undo);
  }

  /** True if a tool was ever called under this id, whatever branch that is on. */
  knowsCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  #addCheckpoint(event: CheckpointEvent, at: number): void {
    const { seq, prompt } = this.#turns.get(event.turnId) ?? { seq: this.#tip, prompt: '' };
    const index = this.#checkpoints.findLastIndex((known) => known.seq < seq) + 1;
    this.#checkpoints.splice(index, 0, { seq, at, event, prompt });
  }

  #move(event: MoveEvent, at: number): void {
    const to = this.#tip - 1;
    if (event.files !== null) this.#restores.add(event.files.undo);
    this.#moves.push({ seq: this.#tip, to: event.to });
    if (event.reason === 'rollback') this.#undone = [...this.#undone, { event, to, at }];
    else if (event.reason === 'redo') this.#undone = this.#undone.slice(0, -1);
    else this.#undone = [];
  }
}

function beginningOf(content: readonly ContentBlock[]): string {
  for (const block of content) {
    if (block.type === 'text' && block.text.trim() !== '')
      return [...block.text.trim()].slice(0, PROMPT_LENGTH).join('');
  }
  return '';
}
