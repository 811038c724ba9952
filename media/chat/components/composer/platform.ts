/** True where keys have the names of macOS. */
export function isMac(): boolean {
  return /mac/i.test(navigator.userAgent);
}
