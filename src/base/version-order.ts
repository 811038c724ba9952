/** True if a version (`major.minor.patch`, what follows is not looked at) is later than another. */
export function isNewer(version: string, than: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(than)];
  for (let at = 0; at < 3; at += 1) {
    const [a = 0, b = 0] = [ours[at], theirs[at]];
    if (a !== b) return a > b;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  return (
    version
      .split(/[-+]/, 1)[0]
      ?.split('.')
      .map((part) => Number.parseInt(part, 10) || 0) ?? []
  );
}
