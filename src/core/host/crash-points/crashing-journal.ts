import type { NewRecord } from '../../session/ports.ts';
import type { CrashPlan } from './crash-plan.ts';
import { around, replacing } from './tapped.ts';

type Appends = {
  append(sessionId: never, records: readonly NewRecord[]): Promise<unknown>;
  deleteSession(sessionId: never): Promise<unknown>;
};

/** The same journal, which passes a point before and behind the append of each record. */
export function crashingJournal<T extends Appends>(journal: T, plan: CrashPlan): T {
  return replacing(journal, (key, method) => {
    if (key === 'deleteSession') return around(method, 'effect/session.delete', plan);
    if (key !== 'append') return null;
    return (sessionId, records) => {
      const steps = stepsOf(records as readonly NewRecord[]);
      for (const step of steps) plan.pass(`before:${step}`);
      return (method(sessionId, records) as Promise<unknown>).then((stored) => {
        for (const step of steps) plan.pass(`after:${step}`);
        return stored;
      });
    };
  });
}

function stepsOf(records: readonly NewRecord[]): string[] {
  return records.flatMap(({ event }) =>
    event.type === 'command_issued'
      ? [`append/${event.type}`, `append/command/${event.command.type}`]
      : [`append/${event.type}`],
  );
}
