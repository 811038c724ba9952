/** Where the message at `at` goes when it is moved by one place: before which one, null for the end. */
export function moveTarget(
  items: readonly { readonly id: string }[],
  at: number,
  direction: 'up' | 'down',
): { readonly before: string | null } | null {
  if (direction === 'up') return at === 0 ? null : { before: items[at - 1]?.id ?? null };
  return at >= items.length - 1 ? null : { before: items[at + 2]?.id ?? null };
}
