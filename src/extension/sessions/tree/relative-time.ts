import * as l10n from '@vscode/l10n';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago `then` was, in few words; a date where it is more than a week. Both in milliseconds. */
export function relativeTime(then: number, now: number): string {
  const ago = Math.max(0, now - then);
  if (ago < MINUTE) return l10n.t('now');
  if (ago < HOUR) return l10n.t('{0} min', Math.floor(ago / MINUTE));
  if (ago < DAY) return l10n.t('{0} h', Math.floor(ago / HOUR));
  if (ago < 7 * DAY) return l10n.t('{0} d', Math.floor(ago / DAY));
  return new Date(then).toLocaleDateString();
}

/** True if both times are on one day of the local calendar. */
export function isSameDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString();
}
