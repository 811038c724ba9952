import { setFlagsFromString } from 'node:v8';
import type { HostParts } from '../host-parts.ts';

/**
 * Most of what a turn allocates is garbage at once. A young generation that grows no more after the start costs no
 * time that can be measured and keeps more than 10 MB out of memory. It holds for the store's thread too.
 */
export function keepSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Points to die at, for proving what a restart makes of it; nothing where none is asked for. */
export async function crashPoints(
  crashAt: string | undefined,
): Promise<{ readonly crashing?: (parts: HostParts) => HostParts }> {
  if (crashAt === undefined) return {};
  const { armCrashPoints } = await import('../crash-points/arm.ts');
  return { crashing: armCrashPoints(crashAt) };
}
