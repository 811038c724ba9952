import { ACTS, type Act, SESSIONS } from '../kills/plan.ts';

/** Who dies. `all`: the host and every door at once. `newborn`: the host, and the next one while it starts. */
export type Victim = 'host' | 'door' | 'client' | 'all' | 'newborn';

/** What one client does in a round, and what it answers permission requests with; null: nothing. */
export type Part = { readonly permission: string | null; readonly acts: readonly Act[] };

/** Time between kills. */
export type HostRound = {
  readonly victim: Victim;
  /** Whose door or client it is. */
  readonly seat: number;
  /** Milliseconds from the first act to the kill. */
  readonly ms: number;
  /** Milliseconds that a newborn host gets. */
  readonly newbornMs: number;
  /** True if the others come again at once, before what was left behind has been looked at. */
  readonly isHasty: boolean;
  /** One for each client. */
  readonly parts: readonly Part[];
};

/** How many clients there are. */
export const SEATS = 3;

const VICTIMS = [
  ...Array<Victim>(8).fill('host'),
  ...Array<Victim>(4).fill('door'),
  ...Array<Victim>(4).fill('client'),
  ...Array<Victim>(2).fill('all'),
  ...Array<Victim>(2).fill('newborn'),
];
const MAX_ACTS = 5;
const MAX_WAIT_MS = 60;
const MAX_MOMENT_MS = 900;
const MAX_NEWBORN_MS = 250;

/** The rounds of a run; the same numbers give the same rounds. */
export function hostPlanOf(random: () => number, rounds: number): readonly HostRound[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const act = (index: number): Act => ({
    name: index === 0 ? pick(['tools', 'tools', 'processes', 'front delegate', 'ask']) : pick(ACTS),
    session: Math.floor(random() * SESSIONS),
    wait: Math.floor(random() * MAX_WAIT_MS),
    luck: random(),
  });
  const part = (): Part => ({
    permission: pick(['allow_once', 'allow_once', 'reject_once', null]),
    acts: Array.from({ length: 1 + Math.floor(random() * MAX_ACTS) }, (_, index) => act(index)),
  });
  return Array.from({ length: rounds }, () => ({
    victim: pick(VICTIMS),
    seat: Math.floor(random() * SEATS),
    ms: Math.floor(random() * MAX_MOMENT_MS),
    newbornMs: Math.floor(random() * MAX_NEWBORN_MS),
    isHasty: random() < 0.5,
    parts: Array.from({ length: SEATS }, part),
  }));
}
