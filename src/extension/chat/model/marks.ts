import { isObject } from '../../../base/json.ts';

/** What the agent says about an update besides ACP's own fields. Missing means: not said. */
export type UpdateMarks = {
  readonly eventId?: number;
  /** Where streamed text begins within its message, in UTF-16 units. */
  readonly offset?: number;
  /** `_meta.pilothouse` of the update, for words that ACP has no field for. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** The commands that brought it about. */
  readonly commandIds?: readonly string[];
};

/** Reads the marks from an update's `_meta` and, for live frames, the notification's `_meta`. */
export function marksOf(updateMeta: unknown, frameMeta?: unknown): UpdateMarks {
  const frame = inner(frameMeta, 'harn');
  const own = inner(updateMeta, 'harn');
  const eventId = count(own['eventId']) ?? count(frame['eventId']);
  const offset = count(own['offset']) ?? count(frame['offset']);
  const commandIds = commandsOf(own['cause']) ?? commandsOf(frame['cause']);
  return {
    ...(commandIds === undefined ? {} : { commandIds }),
    ...(eventId === undefined ? {} : { eventId }),
    ...(offset === undefined ? {} : { offset }),
    extra: { ...inner(frameMeta, 'pilothouse'), ...inner(updateMeta, 'pilothouse') },
  };
}

function inner(meta: unknown, name: string): Record<string, unknown> {
  const value = isObject(meta) ? meta[name] : undefined;
  return isObject(value) ? value : {};
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function commandsOf(cause: unknown): readonly string[] | undefined {
  const ids = isObject(cause) ? cause['command_ids'] : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : undefined;
}
