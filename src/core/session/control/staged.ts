import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import { type Branch, branchOf, isOn, type Move } from '../history/branch.ts';
import type { FsMode, ToolCallId } from '../words.ts';

/** A file as it would become. `base` is what the disk held when it was first staged; null is no file. */
export type StagedVersion = {
  readonly path: string;
  readonly base: string | null;
  readonly text: string | null;
  /** The call that staged it; null for a person's own. */
  readonly toolCallId: ToolCallId | null;
};

/**
 * The file mode of a session and its staged files, folded from its two streams; the same fold live and after a
 * restart. Versions that were staged by calls which are not on the current branch do not count: a rollback drops what
 * its turn staged and a redo brings it back, without an event of their own.
 */
export class StagedState {
  readonly #versions = new Map<string, StagedVersion[]>();
  readonly #branch = new CallBranch();
  #mode: FsMode = 'immediate';

  get mode(): FsMode {
    return this.#mode;
  }

  /** The version of a file that counts; undefined if it is not staged. */
  file(path: string): StagedVersion | undefined {
    return this.#versions.get(path)?.findLast((version) => this.#counts(version));
  }

  /** Every staged file, sorted by path. */
  files(): readonly StagedVersion[] {
    return [...this.#versions.keys()]
      .map((path) => this.file(path))
      .filter((version) => version !== undefined)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  applyControl(event: ControlEvent): void {
    switch (event.type) {
      case 'fs_mode_changed':
        this.#mode = event.mode;
        break;
      case 'file_staged': {
        const { path, base, text, toolCallId } = event;
        const versions = this.#versions.get(path) ?? [];
        this.#versions.set(path, [...versions, { path, base, text, toolCallId }]);
        break;
      }
      case 'staged_settled':
        for (const path of event.paths) this.#versions.delete(path);
        break;
      default:
        break;
    }
  }

  /** `seq` is the event's id. True if another set of files counts from here on. */
  applyHistory(seq: number, event: HistoryEvent): boolean {
    if (event.type === 'tool_started') this.#branch.started(event.toolCallId, seq);
    if (event.type !== 'history_moved') return false;
    this.#branch.moved({ seq, to: event.to });
    return this.#versions.size > 0;
  }

  #counts({ toolCallId }: StagedVersion): boolean {
    return toolCallId === null || this.#branch.holds(toolCallId);
  }
}

/** Which calls lie on the current branch of a history. */
class CallBranch {
  readonly #started = new Map<ToolCallId, number>();
  readonly #moves: Move[] = [];
  #branch: Branch | null = null;

  started(toolCallId: ToolCallId, seq: number): void {
    this.#started.set(toolCallId, seq);
  }

  moved(move: Move): void {
    this.#moves.push(move);
    this.#branch = null;
  }

  holds(toolCallId: ToolCallId): boolean {
    const seq = this.#started.get(toolCallId);
    this.#branch ??= branchOf(this.#moves, Number.MAX_SAFE_INTEGER);
    return seq !== undefined && isOn(this.#branch, seq);
  }
}
