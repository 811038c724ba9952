import { benchAppends } from '../journal.ts';
import type { Figure } from '../report.ts';

/** Durable appends through the journal's own interface, against bare inserts with the same durability. */
export async function benchStore(): Promise<readonly Figure[]> {
  return (await benchAppends()).map(({ name, value, baseline, baselineName }) => ({
    name,
    ours: value,
    unit: '/s',
    baseline: { name: baselineName, value: baseline },
    aim: { kind: 'ratio', limit: 1.5 },
  }));
}
