import { isObject } from '../../../base/json.ts';

/** A session as lists show it. Times are milliseconds since the epoch. */
export type SessionRow = {
  readonly sessionId: string;
  readonly cwd: string;
  /** Empty until the agent has made one. */
  readonly title: string;
  readonly createdAt: number;
  /** Time of the last message: the order of lists. */
  readonly updatedAt: number;
  readonly activePrompt: boolean;
  readonly openGates: number;
  readonly modeId: string;
  readonly model: string;
  readonly lastEventId: number;
};

/**
 * Reads a session as `session/list`, `_pilothouse/sessions/search` and `_pilothouse/session_changed` send it: ACP's
 * fields at the root, Harn's at the root or under `_meta.harn`, our own under `_meta.pilothouse`. Null if unusable.
 */
export function parseRow(value: unknown): SessionRow | null {
  if (!isObject(value)) return null;
  const meta = isObject(value['_meta']) ? value['_meta'] : {};
  const all = { ...record(meta['harn']), ...value, ...record(meta['pilothouse']) };
  const { sessionId, cwd } = value;
  if (typeof sessionId !== 'string' || typeof cwd !== 'string') return null;
  const updatedAt = time(all['updatedAt']);
  return {
    sessionId,
    cwd,
    title: text(all['title']),
    createdAt: time(all['createdAt']) || updatedAt,
    updatedAt,
    activePrompt: all['activePrompt'] === true,
    openGates: number(all['openGates']),
    modeId: text(all['currentModeId']),
    model: text(all['model']),
    lastEventId: number(all['lastEventId']),
  };
}

/** Newest message first; equal times by id, so that the order never depends on the order of arrival. */
export function compareRows(a: SessionRow, b: SessionRow): number {
  return b.updatedAt - a.updatedAt || (a.sessionId < b.sessionId ? -1 : 1);
}

function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function time(value: unknown): number {
  const parsed = typeof value === 'string' ? Date.parse(value) : number(value);
  return Number.isFinite(parsed) ? parsed : 0;
}
