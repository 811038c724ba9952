/** The line ends of a text: all alike, several kinds, or none at all. */
export type LineEnds = '\n' | '\r\n' | 'mixed' | 'none';

/** Looks at every line end; a lone CR counts as an ordinary character. */
export function lineEndsOf(text: string): LineEnds {
  const crlf = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  if (all === 0) return 'none';
  if (crlf === 0) return '\n';
  return crlf === all ? '\r\n' : 'mixed';
}

/** Rewrites every line end. */
export function withLineEnds(text: string, end: '\n' | '\r\n'): string {
  const plain = text.replaceAll('\r\n', '\n');
  return end === '\n' ? plain : plain.replaceAll('\n', '\r\n');
}
