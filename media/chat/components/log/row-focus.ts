/**
 * Moves the focus between rows: Down or Up from a row, Down from the log itself into its first visible row.
 * Rows leave the tab order alone; within a row Tab goes on as usual.
 */
export function moveBetweenRows(
  event: KeyboardEvent,
  count: number,
  scrollTo: (index: number) => void,
): void {
  const { currentTarget, target } = event;
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement)) return;
  const index = nextIndex(event.key, currentTarget, target, count);
  if (index === null) return;
  event.preventDefault();
  scrollTo(index);
  // The row may have to be drawn first.
  requestAnimationFrame(() => requestAnimationFrame(() => rowAt(currentTarget, index)?.focus()));
}

function nextIndex(
  key: string,
  log: HTMLElement,
  target: HTMLElement,
  count: number,
): number | null {
  const current = Number(target.dataset['index'] ?? Number.NaN);
  if (Number.isNaN(current)) {
    return target === log && key === 'Enter' ? firstVisible(log) : null;
  }
  switch (key) {
    case 'ArrowDown':
      return Math.min(current + 1, count - 1);
    case 'ArrowUp':
      return Math.max(current - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

function rowAt(log: HTMLElement, index: number): HTMLElement | null {
  return log.querySelector<HTMLElement>(`[data-index="${index}"]`);
}

function firstVisible(log: HTMLElement): number | null {
  const top = log.getBoundingClientRect().top;
  for (const row of log.querySelectorAll<HTMLElement>('[data-index]')) {
    if (row.getBoundingClientRect().bottom > top) return Number(row.dataset['index']);
  }
  return null;
}
