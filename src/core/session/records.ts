import type { ControlEvent } from './control-events.ts';
import type { HistoryEvent } from './events.ts';
import type { NewRecord } from './ports.ts';

type Of<S extends NewRecord['stream']> = Extract<NewRecord, { readonly stream: S }>;

/** New records of the `control` stream, caused by what the recorder finds. */
export function controlRecords(events: readonly ControlEvent[]): readonly Of<'control'>[] {
  return events.map((event) => ({ stream: 'control', event }));
}

/** New records of the `history` stream, caused by what the recorder finds. */
export function historyRecords(events: readonly HistoryEvent[]): readonly Of<'history'>[] {
  return events.map((event) => ({ stream: 'history', event }));
}
