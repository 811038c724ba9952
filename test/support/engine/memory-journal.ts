import { createHash } from 'node:crypto';
import type {
  HistoryRange,
  Journal,
  NewRecord,
  SessionRow,
  StoredRecord,
} from '../../../src/core/session/ports.ts';
import type { SessionId } from '../../../src/core/session/words.ts';

/** A journal in memory that keeps the real one's promises, and can be told to fail or to be slow. */
export class MemoryJournal implements Journal {
  readonly records = new Map<SessionId, StoredRecord[]>();
  /** Rejects every append from now on when set. */
  failure: Error | null = null;
  /** Awaited by each append before it is stored. */
  gate: Promise<void> = Promise.resolve();
  now = 1_000;

  async append(
    sessionId: SessionId,
    records: readonly NewRecord[],
  ): Promise<readonly StoredRecord[]> {
    await this.gate;
    if (this.failure !== null) throw this.failure;
    const list = this.records.get(sessionId) ?? [];
    this.records.set(sessionId, list);
    return records.map((record) => {
      const seq = list.filter(({ stream }) => stream === record.stream).length + 1;
      const previous = list.findLast(({ stream }) => stream === record.stream)?.record.hash ?? '';
      const hash = createHash('sha256')
        .update(previous + JSON.stringify(record.event))
        .digest('hex');
      const stored = {
        stream: record.stream,
        record: {
          sessionId,
          seq,
          at: this.now,
          event: record.event,
          cause: record.cause ?? { command_ids: [] },
          hash,
        },
      } as StoredRecord;
      list.push(stored);
      return stored;
    });
  }

  async readHistory(sessionId: SessionId, range: HistoryRange) {
    const all = (this.records.get(sessionId) ?? []).flatMap((item) =>
      item.stream === 'history' ? [item.record] : [],
    );
    const found = all.filter(
      ({ seq }) => seq > (range.after ?? 0) && seq < (range.before ?? Number.POSITIVE_INFINITY),
    );
    return (range.newestFirst === true ? found.reverse() : found).slice(0, range.limit);
  }

  async readControl(sessionId: SessionId, range: HistoryRange) {
    const all = (this.records.get(sessionId) ?? []).flatMap((item) =>
      item.stream === 'control' ? [item.record] : [],
    );
    const found = all.filter(
      ({ seq }) => seq > (range.after ?? 0) && seq < (range.before ?? Number.POSITIVE_INFINITY),
    );
    return (range.newestFirst === true ? found.reverse() : found).slice(0, range.limit);
  }

  async moves(sessionId: SessionId) {
    const all = await this.readHistory(sessionId, { limit: Number.POSITIVE_INFINITY });
    return all.flatMap(({ seq, event }) =>
      event.type === 'history_moved' ? [{ seq, to: event.to }] : [],
    );
  }

  async session(sessionId: SessionId): Promise<SessionRow | null> {
    const history = await this.readHistory(sessionId, { limit: Number.POSITIVE_INFINITY });
    const [first] = history;
    const last = history.at(-1);
    if (first?.event.type !== 'session_created' || last === undefined) return null;
    const title = history.findLast(({ event }) => event.type === 'title_changed')?.event;
    return {
      sessionId,
      cwd: first.event.cwd,
      additionalDirectories: first.event.additionalDirectories,
      title: title?.type === 'title_changed' ? title.title : null,
      createdAt: first.at,
      lastMessageAt: last.at,
      lastEventId: last.seq,
      prefixHash: last.hash,
      ...(first.event.delegate === undefined ? {} : { rootId: first.event.delegate.rootId }),
    };
  }

  async delegates(rootId: SessionId): Promise<readonly SessionRow[]> {
    return (await this.#rows()).filter((row) => row.rootId === rootId);
  }

  async sessions() {
    return { rows: (await this.#rows()).filter((row) => row.rootId === undefined) };
  }

  async #rows(): Promise<readonly SessionRow[]> {
    const rows = await Promise.all([...this.records.keys()].map((id) => this.session(id)));
    return rows.filter((row) => row !== null);
  }

  async deleteSession(sessionId: SessionId): Promise<boolean> {
    for (const row of await this.delegates(sessionId)) this.records.delete(row.sessionId);
    return this.records.delete(sessionId);
  }

  async hashAt(sessionId: SessionId, eventId: number): Promise<string | null> {
    return (await this.readHistory(sessionId, { after: eventId - 1, limit: 1 }))[0]?.hash ?? null;
  }

  async verify(): Promise<{ ok: true }> {
    return { ok: true };
  }
}
