import { isObject } from '../../../base/json.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { HistoryEvent } from '../../session/events.ts';
import type { ToolCallId } from '../../session/words.ts';

/** A file's text before a session's own tools first changed it and after they last did; null where it did not exist. */
export type FileChange = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
};

type Timed = FileChange & { readonly at: number };

/**
 * The files that a session's own tools changed, folded from the diffs of the calls that ran and from what was
 * committed of staged files. What a shell command changed is not in here: it leaves no diff.
 */
export class Changes {
  readonly #files = new Map<string, Timed>();
  readonly #staged = new Map<string, { before: string | null; after: string | null }>();
  readonly #started = new Set<ToolCallId>();

  /** `at` in milliseconds since the epoch. */
  apply(event: HistoryEvent, at = 0): void {
    if (event.type === 'tool_started') this.#started.add(event.toolCallId);
    if (event.type !== 'tool_ended' || !this.#started.delete(event.toolCallId)) return;
    if (event.result.status !== 'completed') return;
    if (isObject(event.rawOutput) && event.rawOutput['staged'] === true) return;
    for (const item of event.content) {
      if (item.type !== 'diff') continue;
      this.#change({ path: item.path, before: item.oldText ?? null, after: item.newText, at });
    }
  }

  /** The other stream; it may be behind the history or before it, so times decide which text came last. */
  applyControl(event: ControlEvent, at: number): void {
    if (event.type === 'file_staged')
      this.#staged.set(event.path, { before: event.base, after: event.text });
    if (event.type !== 'staged_settled') return;
    for (const path of event.paths) {
      const staged = this.#staged.get(path);
      this.#staged.delete(path);
      if (staged === undefined || event.how !== 'committed') continue;
      const { before, after } = staged;
      // A file that a person had removed is no change of the tools any more.
      if (after === null) this.#files.delete(path);
      else this.#change({ path, before, after, at });
    }
  }

  /** Files whose text differs from before, sorted by path. */
  list(): readonly FileChange[] {
    return [...this.#files.values()]
      .filter(({ before, after }) => before !== after)
      .map(({ path, before, after }) => ({ path, before, after }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  get(path: string): FileChange | undefined {
    return this.#files.get(path);
  }

  #change(change: Timed): void {
    const known = this.#files.get(change.path);
    const isNewer = known === undefined || change.at >= known.at;
    const [first, last] = isNewer ? [known ?? change, change] : [change, known];
    this.#files.set(change.path, { ...last, before: first.before });
  }
}
