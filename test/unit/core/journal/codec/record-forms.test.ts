import { describe, expect, test } from 'vitest';
import { RECORD_VERSION } from '../../../../../src/core/journal/codec/canonical.ts';
import {
  decodeControl,
  decodeHistory,
  encodeRecord,
} from '../../../../../src/core/journal/codec/codec.ts';
import type { EphemeralEvent } from '../../../../../src/core/session/ephemeral-events.ts';
import type { NewRecord } from '../../../../../src/core/session/ports.ts';
import {
  delegateCreated,
  everyControlEvent,
  everyHistoryEvent,
} from '../../../../support/journal/events.ts';

/** What is told and never kept; a new type has to be added here. */
const TOLD: Readonly<Record<EphemeralEvent['type'], true>> = {
  message_chunk: true,
  tool_output: true,
  seam_passed: true,
  pending_changed: true,
  staged_changed: true,
  compaction_started: true,
  activity_changed: true,
};

const kept: readonly (readonly [string, NewRecord])[] = [
  ...[...everyHistoryEvent, delegateCreated].map(
    (event) => [`history ${event.type}`, { stream: 'history', event }] as const,
  ),
  ...everyControlEvent.map(
    (event) => [`control ${event.type}`, { stream: 'control', event }] as const,
  ),
];

function read({ stream }: NewRecord, version: number, body: string): unknown {
  const place = { session: 's', seq: 7 };
  return stream === 'history'
    ? decodeHistory({ ...place, stream }, version, body).event
    : decodeControl({ ...place, stream }, version, body).event;
}

describe('a stored event', () => {
  test.each(kept)(
    'of a later version is refused by its place, not guessed: %s',
    (_name, record) => {
      const { body } = encodeRecord('s', record);
      expect(read(record, RECORD_VERSION, body)).toEqual(record.event);
      for (const version of [RECORD_VERSION + 1, 0, -1])
        expect(() => read(record, version, body)).toThrow(
          expect.objectContaining({
            code: 'journal.bad_record',
            message: expect.stringContaining(`version ${version} is unknown`),
            data: { session: 's', stream: record.stream, seq: 7 },
          }),
        );
    },
  );
});

describe('what is only told', () => {
  test.each(Object.keys(TOLD))('is stored in no stream: %s', (type) => {
    for (const stream of ['history', 'control'] as const)
      expect(() => encodeRecord('s', { stream, event: { type } } as unknown as NewRecord)).toThrow(
        expect.objectContaining({ code: 'journal.bad_record' }),
      );
  });

  test.each(Object.keys(TOLD))('has the name of nothing that is kept: %s', (type) => {
    expect(kept.filter(([name]) => name.endsWith(` ${type}`))).toEqual([]);
  });
});
