import stripAnsi from 'strip-ansi';

/** A longer line is cut where it is shown: one line of megabytes would hold up the page. */
const LONGEST_LINE = 2000;

/** The lines of an output that grows: what was split before is not split again. */
export class OutputLines {
  #output = '';
  #lines: string[] = [];

  /** The lines of `output`, without control sequences; of a line written over (`\r`) the last version. */
  update(output: string): readonly string[] {
    if (output === this.#output) return this.#lines;
    const grown = output.startsWith(this.#output);
    const from = grown ? this.#output.lastIndexOf('\n') + 1 : 0;
    const lines = grown ? this.#lines.slice(0, -1) : [];
    for (const line of output.slice(from).split('\n')) lines.push(shown(line));
    this.#output = output;
    this.#lines = lines;
    return lines;
  }
}

function shown(line: string): string {
  const bounded = line.length > LONGEST_LINE * 4 ? line.slice(0, LONGEST_LINE * 4) : line;
  const plain =
    bounded.includes('\u001B') || bounded.includes('\u009B') ? stripAnsi(bounded) : bounded;
  const written = plain.endsWith('\r') ? plain.slice(0, -1) : plain;
  const last = written.slice(written.lastIndexOf('\r') + 1);
  return last.length > LONGEST_LINE ? `${last.slice(0, LONGEST_LINE)}…` : last;
}
