import type { Tea } from './teas.ts';

/** Seconds as a person says them: `90` is `1 min 30 s`. */
export function formatTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = seconds % 60;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

export function formatTea(tea: Tea): string {
  return `${tea.name}: ${tea.temperature} °C, ${formatTime(tea.seconds)}`;
}
