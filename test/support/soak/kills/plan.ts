import { crashPointNames } from '../../../../src/core/host/crash-points/point-names.ts';

/** How a round ends. */
export type Kill =
  /** So many milliseconds after its first action. */
  | { readonly kind: 'moment'; readonly ms: number }
  /** Where the process gets there; else as late as a round may get. */
  | { readonly kind: 'point'; readonly point: string };

/** What is done in a round, to one of the sessions. */
export const ACTS = [
  'tools',
  'tools',
  'processes',
  'talk',
  'ask',
  'front delegate',
  'background delegate',
  'steer',
  'note',
  'interrupt',
  'remind',
  'revoke',
  'hold',
  'resume',
  'pause',
  'withdraw',
  'cancel',
  'answer',
  'refuse',
  'compact',
  'go back',
  'go back',
  'redo',
  'mode',
  'keep files',
  'settle',
] as const;
export type ActName = (typeof ACTS)[number];

export type Act = {
  readonly name: ActName;
  readonly session: number;
  /** Milliseconds before it. */
  readonly wait: number;
  /** Decides what is left open. */
  readonly luck: number;
};

export type Round = {
  readonly kill: Kill;
  /** What permission requests are answered with by themselves; null: nothing. */
  readonly permission: 'allow_once' | 'reject_once' | null;
  readonly acts: readonly Act[];
};

/** How many sessions are at work at once. */
export const SESSIONS = 3;

/** What nearly every round passes; most points are taken from here, the rest from all that there are. */
const COMMON = [
  'append/turn_started',
  'append/message_delta',
  'append/model_replied',
  'append/tool_proposed',
  'append/tool_started',
  'append/tool_ended',
  'append/turn_checkpoint',
  'append/turn_ended',
  'append/process_started',
  'append/process_ended',
  'append/command_issued',
  'append/command_resolved',
  'append/control_outcome',
  'append/session_restored',
  'append/delegate_started',
  'append/delegate_ended',
  'append/command/user_input',
  'append/command/subagent_result',
  'effect/run',
  'effect/write',
  'effect/process_start',
  'effect/model.request',
  'effect/checkpoint.before',
  'effect/checkpoint.end',
] as const;

const MAX_ACTS = 14;
const MAX_WAIT_MS = 60;
const MAX_MOMENT_MS = 1_500;

/** The rounds of a run; the same numbers give the same rounds. */
export function planOf(random: () => number, rounds: number): readonly Round[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const all = crashPointNames();
  const point = (): string =>
    random() < 0.75 ? `${pick(['before', 'after'] as const)}:${pick(COMMON)}` : pick(all);
  return Array.from({ length: rounds }, () => {
    const kill: Kill =
      random() < 0.5
        ? { kind: 'moment', ms: Math.floor(random() * MAX_MOMENT_MS) }
        : { kind: 'point', point: `${point()}#${1 + Math.floor(random() * 2)}` };
    const permission = pick([
      'allow_once',
      'allow_once',
      'allow_once',
      'reject_once',
      null,
    ] as const);
    const acts = Array.from({ length: 3 + Math.floor(random() * MAX_ACTS) }, (_, index) => ({
      // A round begins with something that runs.
      name:
        index < 2 ? pick(['tools', 'tools', 'processes', 'front delegate'] as const) : pick(ACTS),
      session: Math.floor(random() * SESSIONS),
      wait: Math.floor(random() * MAX_WAIT_MS),
      luck: random(),
    }));
    return { kill, permission, acts };
  });
}
