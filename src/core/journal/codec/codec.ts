import * as z from 'zod/mini';
import { canonicalJson } from '../../../base/canonical-json.ts';
import { messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { MAX_COMMAND_BYTES } from '../../session/commands/command.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { Cause, HistoryEvent } from '../../session/events.ts';
import type { NewRecord } from '../../session/ports.ts';
import { JournalError } from '../errors.ts';
import { RECORD_VERSION, recordJson, type StreamName } from './canonical.ts';
import { checkCommand } from './command-codec.ts';
import { CommandError } from './command-error.ts';
import { controlFields, historyFields } from './event-fields.ts';
import { commandId } from './event-shapes.ts';
import { keyProblemIn } from './json-keys.ts';
import { MAX_BODY_BYTES } from './limits.ts';

/** Where a stored record stands; errors name it. */
export type RecordPlace = {
  readonly session: string;
  readonly stream: StreamName;
  readonly seq: number;
};

/** A record on its way to the writer. */
export type EncodedRecord = {
  readonly stream: StreamName;
  readonly type: string;
  /** Canonical JSON of the event. */
  readonly body: string;
};

/** Events of one type are checked by generated code from this many on; before, making it costs more than it saves. */
const COMPILED_AFTER = 50;

class EventShape {
  #schema: z.ZodMiniType;
  #checked = 0;

  constructor(schema: z.ZodMiniType) {
    this.#schema = schema;
  }

  /** Null if it fits, else what is wrong. */
  problemWith(event: unknown): string | null {
    this.#checked += 1;
    if (this.#checked === COMPILED_AFTER) this.#schema = z.compile(this.#schema);
    const result = this.#schema.safeParse(event);
    return result.success ? null : z.prettifyError(result.error);
  }
}

function shapesOf(
  fields: Readonly<Record<string, z.core.$ZodShape>>,
): ReadonlyMap<string, EventShape> {
  return new Map(
    Object.entries(fields).map(([type, shape]) => [type, new EventShape(z.strictObject(shape))]),
  );
}

const historyShapes = shapesOf(historyFields);
const controlShapes = shapesOf(controlFields);

/**
 * Checks and writes a new record. Throws `journal.bad_record` for what could not be read back and
 * `journal.too_large` past `MAX_BODY_BYTES`.
 */
export function encodeRecord(session: string, record: NewRecord): EncodedRecord {
  const { stream, event, cause = NO_CAUSE } = record;
  const problem = problemWith(stream, event);
  if (problem !== null) {
    throw new JournalError(
      'journal.bad_record',
      `A ${stream} record of session ${session} was not stored: ${problem}`,
      { data: { session, stream, type: event.type } },
    );
  }
  const body = recordJson({ ...event, cause });
  const bytes = Buffer.byteLength(body);
  if (bytes > MAX_BODY_BYTES) {
    throw new JournalError(
      'journal.too_large',
      `A ${event.type} record of ${bytes} bytes was not stored: the limit is ${MAX_BODY_BYTES} bytes.`,
      { data: { session, stream, type: event.type, bytes, limit: MAX_BODY_BYTES } },
    );
  }
  if (event.type === 'command_issued' && bytes > MAX_COMMAND_BYTES) {
    throw new JournalError(
      'journal.too_large',
      `The command ${event.command.type} of ${bytes} bytes was not stored: the limit is ${MAX_COMMAND_BYTES} bytes.`,
      { data: { session, stream, type: event.type, bytes, limit: MAX_COMMAND_BYTES } },
    );
  }
  return { stream, type: event.type, body };
}

/** The cause of records that name none. */
export const NO_CAUSE: Cause = { command_ids: [] };

/** An event as it was stored, and what brought it about. */
export type Decoded<E> = { readonly event: E; readonly cause: Cause };

/** Reads a stored history event. Throws `journal.bad_record` that names the record. */
export function decodeHistory(
  place: RecordPlace,
  version: number,
  body: string,
): Decoded<HistoryEvent> {
  const { event, cause } = parseBody(place, version, body);
  if (isHistoryEvent(event)) return { event, cause };
  throw badRecord(place, problemWith('history', event) ?? 'its shape is unknown');
}

/** Reads a stored control event. Throws `journal.bad_record` that names the record. */
export function decodeControl(
  place: RecordPlace,
  version: number,
  body: string,
): Decoded<ControlEvent> {
  const { event, cause } = parseBody(place, version, body);
  if (!isControlEvent(event)) {
    throw badRecord(place, problemWith('control', event) ?? 'its shape is unknown');
  }
  // A restore acts on these, so that nobody may read another command out of the same bytes.
  if (event.type === 'command_issued') {
    const problem = formProblemOf(body, cause, event);
    if (problem !== null) throw badRecord(place, problem);
  }
  return { event, cause };
}

function formProblemOf(body: string, cause: Cause, event: ControlEvent): string | null {
  const problem = keyProblemIn(body);
  if (problem?.kind === 'duplicate') return `${problem.path} is there twice`;
  return problem === null && canonicalJson({ ...event, cause }) === body
    ? null
    : 'its form is not the canonical one';
}

const causeShape = z.strictObject({ command_ids: z.array(commandId) });

function parseBody(place: RecordPlace, version: number, body: string): Decoded<unknown> {
  if (version !== RECORD_VERSION) throw badRecord(place, `its version ${version} is unknown`);
  const parsed = parseJson(place, body);
  if (!isObject(parsed) || !('cause' in parsed)) return { event: parsed, cause: NO_CAUSE };
  const { cause, ...event } = parsed;
  const checked = causeShape.safeParse(cause);
  if (!checked.success) throw badRecord(place, 'its cause is malformed');
  return { event, cause: checked.data };
}

function parseJson(place: RecordPlace, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw badRecord(place, `it is not JSON (${messageOf(error)})`);
  }
}

/** True if the canonical text of a control record ends as that of a receipt does, whatever it says before. */
export function endsAsReceipt(body: string): boolean {
  return body.endsWith('"type":"control_outcome"}');
}

/** A stored record that can't be understood. */
export function badRecord(place: RecordPlace, what: string): JournalError {
  return new JournalError(
    'journal.bad_record',
    `Record ${place.seq} of the ${place.stream} of session ${place.session} can't be read: ${what}. ` +
      'It may have been damaged on disk; verify the session to find out.',
    { data: { session: place.session, stream: place.stream, seq: place.seq } },
  );
}

function isHistoryEvent(event: unknown): event is HistoryEvent {
  return problemWith('history', event) === null;
}

function isControlEvent(event: unknown): event is ControlEvent {
  return problemWith('control', event) === null;
}

function problemWith(stream: StreamName, event: unknown): string | null {
  if (!isObject(event) || typeof event['type'] !== 'string') return 'it has no type';
  const shape = (stream === 'history' ? historyShapes : controlShapes).get(event['type']);
  if (shape === undefined) return `its type "${event['type']}" is unknown`;
  const problem = commandProblem(event) ?? shape.problemWith(event);
  return problem === null ? null : `${event['type']}: ${problem}`;
}

/** What is wrong with the command that an event acts on; a refused one may be anything that has its shape. */
function commandProblem(event: Readonly<Record<string, unknown>>): string | null {
  if (event['type'] !== 'command_issued' && event['type'] !== 'loop_changed') return null;
  try {
    checkCommand(event['command']);
    return null;
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}
