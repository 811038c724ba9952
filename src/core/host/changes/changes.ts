import type { HistoryEvent } from '../../session/events.ts';
import type { ToolCallId } from '../../session/words.ts';

/** A file's text before a session's own tools first changed it and after they last did; null where it did not exist. */
export type FileChange = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
};

/**
 * The files that a session's own tools changed, folded from the diffs of the calls that ran. What a shell command
 * changed is not in here: it leaves no diff.
 */
export class Changes {
  readonly #files = new Map<string, FileChange>();
  readonly #started = new Set<ToolCallId>();

  apply(event: HistoryEvent): void {
    if (event.type === 'tool_started') this.#started.add(event.toolCallId);
    if (event.type !== 'tool_ended' || !this.#started.delete(event.toolCallId)) return;
    if (event.result.status !== 'completed') return;
    for (const item of event.content) {
      if (item.type !== 'diff') continue;
      const known = this.#files.get(item.path);
      const before = known === undefined ? (item.oldText ?? null) : known.before;
      this.#files.set(item.path, { path: item.path, before, after: item.newText });
    }
  }

  /** Files whose text differs from before, sorted by path. */
  list(): readonly FileChange[] {
    return [...this.#files.values()]
      .filter(({ before, after }) => before !== after)
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  get(path: string): FileChange | undefined {
    return this.#files.get(path);
  }
}
