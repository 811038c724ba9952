import { useState } from 'preact/hooks';

/** What a person opened or closed, by row: rows that scroll out of the page come back as they were. */
const chosen = new Map<string, boolean>();

/** Whether a part is open, and what turns it over. Follows `byDefault` until the person has chosen. */
export function useFold(id: string, byDefault: boolean): readonly [boolean, () => void] {
  const [, redraw] = useState(0);
  const open = chosen.get(id) ?? byDefault;
  return [
    open,
    () => {
      chosen.set(id, !open);
      redraw((count) => count + 1);
    },
  ];
}
