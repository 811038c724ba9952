/** The longest piece of foreign text that a transcript holds in one place, in UTF-16 units. */
const MAX_TEXT = 200_000;

const LINE_END = /\r\n|\n|\r/;
/** Everything that Markdown could take for more than text within a line. */
const ACTIVE = /[\\`*_[\]<>~&#|$]/g;
const CONTROL = /(?!\t)\p{Cc}/gu;

/** The lines of a text as an editor counts them, without control characters that an editor can't show. */
export function linesOf(text: string): string[] {
  return text.split(LINE_END).map((line) => line.replace(CONTROL, '\u{fffd}'));
}

/** Text that stands in a line of Markdown as it is. */
export function plain(text: string): string {
  return oneLine(text).replace(ACTIVE, '\\$&');
}

/** A code span that its text can't end. */
export function code(text: string): string {
  const line = oneLine(text);
  if (line === '') return '` `';
  const ticks = '`'.repeat(longestRun(line, '`') + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** A fenced block that its text can't end: the fence is longer than any run of backticks inside. */
export function fence(text: string, info: string): string[] {
  const ticks = '`'.repeat(Math.max(3, longestRun(text, '`') + 1));
  return [`${ticks}${info}`, ...linesOf(text), ticks];
}

/** A quote that its text can't leave: every line is marked, and a blank line has to follow. */
export function quote(text: string): string[] {
  return linesOf(text).map((line) => (line === '' ? '>' : `> ${line}`));
}

/** Keeps both ends of a text that is too long, and says how much is missing in between. */
export function clip(text: string, max = MAX_TEXT): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  const head = text.slice(0, wholeCharacter(text, half));
  const tail = text.slice(wholeCharacter(text, text.length - half));
  return `${head}\n… ${text.length - head.length - tail.length} characters left out …\n${tail}`;
}

/** A date and time in UTC, to the second. */
export function utc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function oneLine(text: string): string {
  return linesOf(text).join(' ').trim();
}

/** A cut never leaves half a surrogate pair behind. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}

function longestRun(text: string, character: string): number {
  let longest = 0;
  let current = 0;
  for (const each of text) {
    current = each === character ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
}
