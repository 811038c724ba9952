import type { Clock } from '../../../base/clock.ts';
import { ModelError, type ModelEvent } from '../../session/model.ts';
import { errorForStatus } from '../errors.ts';
import type { Beat, Reply } from './reply.ts';
import type { Failure } from './statement.ts';

const SOURCE = 'rehearsal';
/** A text reply takes this long, so that a person can see it stream and act on it. */
const TEXT_MS = 600;
const LINE_MS = 150;
const MAX_CHUNKS = 40;
const MIN_CHUNKS = 4;
const CHUNK_LENGTH = 16;
const RETRY_AFTER_MS = 250;
/** A provider's chunks come some at a time, as the network is read; between two reads other work has its turn. */
const CHUNKS_PER_READ = 16;

/** Time for a reply; null plays it without any delay. */
export type Pace = Clock | null;

/** Cuts a text into a few chunks without breaking a character. */
export function chunksOf(text: string): string[] {
  const characters = [...text];
  const wanted = Math.min(MAX_CHUNKS, Math.max(MIN_CHUNKS, characters.length / CHUNK_LENGTH));
  const size = Math.max(1, Math.ceil(characters.length / wanted));
  const chunks: string[] = [];
  for (let index = 0; index < characters.length; index += size) {
    chunks.push(characters.slice(index, index + size).join(''));
  }
  return chunks;
}

function cancelled(cause: unknown): ModelError {
  return new ModelError('model.cancelled', 'The rehearsal model was stopped.', {
    source: SOURCE,
    cause,
  });
}

async function pass(ms: number, pace: Pace, signal: AbortSignal): Promise<void> {
  if (pace !== null && !signal.aborted) {
    try {
      await pace.sleep(ms, signal);
    } catch (error) {
      throw cancelled(error);
    }
  }
  if (signal.aborted) throw cancelled(signal.reason);
}

function nextRead(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function failureOf(failure: Failure): ModelError {
  switch (failure.kind) {
    case 'status':
      return errorForStatus(failure.status, {
        source: SOURCE,
        retryAfterMs: failure.status === 429 ? RETRY_AFTER_MS : undefined,
      });
    case 'cut':
      return new ModelError('model.stream_cut', 'The rehearsal model cut its stream, as asked.', {
        source: SOURCE,
        retryable: true,
      });
    case 'timeout':
      return new ModelError('model.timeout', 'The rehearsal model timed out, as asked.', {
        source: SOURCE,
        retryable: true,
      });
  }
}

async function* spread(
  type: 'text' | 'thought',
  text: string,
  pace: Pace,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const chunks = pace === null ? [text] : chunksOf(text);
  for (const chunk of chunks) {
    await pass(TEXT_MS / chunks.length, pace, signal);
    yield { type, text: chunk };
  }
}

async function* count(
  from: number,
  to: number,
  pace: Pace,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const step = from <= to ? 1 : -1;
  for (let number = from; number !== to + step; number += step) {
    await pass(LINE_MS, pace, signal);
    yield { type: 'text', text: `${number}\n` };
  }
}

async function* beat(what: Beat, pace: Pace, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  switch (what.type) {
    case 'text':
    case 'thought':
      yield* spread(what.type, what.text, pace, signal);
      return;
    case 'note':
      yield { type: 'text', text: what.text };
      return;
    case 'call':
      yield { type: 'tool_call', call: what.call };
      return;
    case 'wait':
      await pass(what.ms, pace, signal);
      return;
    case 'count':
      yield* count(what.from, what.to, pace, signal);
      return;
    case 'chunks':
      for (let index = 1; index <= what.count; index += 1) {
        if (signal.aborted) throw cancelled(signal.reason);
        if (index % CHUNKS_PER_READ === 0) await nextRead();
        yield { type: 'text', text: `chunk ${String(index).padStart(8, '0')}\n` };
      }
      return;
    case 'fail':
      throw failureOf(what.failure);
  }
}

/** Plays a reply up to, but without, its `finish`. Throws only `ModelError`. */
export async function* play(
  reply: Reply,
  pace: Pace,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  if (signal.aborted) throw cancelled(signal.reason);
  for (const what of reply.beats) yield* beat(what, pace, signal);
}
