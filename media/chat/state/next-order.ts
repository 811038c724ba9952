/** Where the message at `at` goes when it is moved by one place: before which one, null for the end. */
export function moveTarget(
  items: readonly { readonly id: string }[],
  at: number,
  direction: 'up' | 'down',
): { readonly before: string | null } | null {
  if (direction === 'up') return at === 0 ? null : { before: items[at - 1]?.id ?? null };
  return at >= items.length - 1 ? null : { before: items[at + 2]?.id ?? null };
}

/** Where a message dropped on the one at `at` goes: it takes that place. */
export function dropTarget(
  items: readonly { readonly id: string }[],
  dragged: string,
  at: number,
): string | null {
  const from = items.findIndex(({ id }) => id === dragged);
  return items[from < at ? at + 1 : at]?.id ?? null;
}
