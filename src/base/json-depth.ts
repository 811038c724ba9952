const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);

/**
 * Whether a JSON text is nested deeper than a limit. For texts from outside, before they are parsed: a parser takes
 * very long over millions of brackets.
 */
export function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isString) {
      if (unit === BACKSLASH) at += 1;
      else if (unit === QUOTE) isString = false;
    } else if (unit === QUOTE) isString = true;
    else if (OPEN.has(unit)) {
      depth += 1;
      if (depth > limit) return true;
    } else if (CLOSE.has(unit)) depth -= 1;
  }
  return false;
}
