import type { CrashRig } from '../rig/crash-rig.ts';

/** A scripted piece of life, for dying in the middle of it. Its steps don't mind if the process is gone. */
export type Scenario = {
  readonly name: string;
  /** Effects that it has besides records and tools. */
  readonly effects?: readonly string[];
  /** Comes before, in a process that does not die at a point. */
  readonly before?: (rig: CrashRig) => Promise<void>;
  readonly run: (rig: CrashRig) => Promise<void>;
};
