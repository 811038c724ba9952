import type { Row, UserMarks } from './rows.ts';

type Checkpoint = NonNullable<UserMarks['checkpoint']>;
type Marked = { readonly rowId: string; readonly marks: UserMarks };

/**
 * Which row is the prompt of which turn, and what each turn left. Both become known at different times, and from
 * different pages of the history.
 */
export class TurnPrompts {
  readonly #rows = new Map<string, string>();
  readonly #left = new Map<string, Checkpoint>();

  /** A turn began with the prompt in that row; returns what its row has to say now. */
  began(turnId: string, rowId: string, messageId: string | null): Marked {
    this.#rows.set(turnId, rowId);
    const checkpoint = this.#left.get(turnId);
    return {
      rowId,
      marks: {
        ...(messageId === null ? {} : { messageId }),
        ...(checkpoint ? { checkpoint } : {}),
      },
    };
  }

  /** A turn left a state behind; null while its prompt is not loaded. */
  left(turnId: string, checkpoint: Checkpoint): Marked | null {
    this.#left.set(turnId, checkpoint);
    const rowId = this.#rows.get(turnId);
    return rowId === undefined ? null : { rowId, marks: { checkpoint } };
  }

  /** Takes in what an older page knows; returns rows whose mark was known here already. */
  joinOlder(older: TurnPrompts, rows: ReadonlyMap<string, Row>): Row[] {
    const marked: Row[] = [];
    for (const [turnId, rowId] of older.#rows) {
      this.#rows.set(turnId, rowId);
      const checkpoint = this.#left.get(turnId);
      const row = rows.get(rowId);
      if (!checkpoint || row?.body.kind !== 'user') continue;
      row.body = { ...row.body, marks: { ...row.body.marks, checkpoint } };
      marked.push(row);
    }
    for (const [turnId, checkpoint] of older.#left) this.#left.set(turnId, checkpoint);
    return marked;
  }
}
