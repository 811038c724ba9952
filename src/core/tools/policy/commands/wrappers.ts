import type { AnalysisSink } from './analysis-types.ts';
import { isHarmlessVariable } from './harmless-variables.ts';
import type { ShellWord } from './shell-words.ts';

/** How a program that runs another one reads its options. */
export type Wrapper = {
  /** Options without a value. */
  readonly flags: readonly string[];
  /** Options with a value, in the next word, attached, or after `=`. */
  readonly valued: readonly string[];
  /** Words between the options and the command. */
  readonly positionals?: number;
  /** True if variables may stand before the command. */
  readonly assignments?: true;
  /** True if the program itself needs to be allowed too. */
  readonly listed?: true;
  /** True if words are added that nobody knows beforehand. */
  readonly extended?: true;
};

/** Programs that run the command that follows their options. */
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    flags: ['-i', '-', '-0', '-v', '--ignore-environment', '--null', '--debug'],
    valued: ['-u', '--unset'],
    assignments: true,
  },
  command: { flags: ['-p'], valued: [] },
  builtin: { flags: [], valued: [] },
  exec: { flags: ['-c', '-l'], valued: ['-a'] },
  nohup: { flags: [], valued: [] },
  time: { flags: ['-p', '-v'], valued: ['-f'] },
  setsid: { flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'], valued: [] },
  nice: { flags: [], valued: ['-n', '--adjustment'] },
  ionice: { flags: ['-t', '--ignore'], valued: ['-c', '-n', '--class', '--classdata'] },
  timeout: {
    flags: ['--foreground', '--preserve-status', '-v', '--verbose'],
    valued: ['-s', '-k', '--signal', '--kill-after'],
    positionals: 1,
  },
  stdbuf: { flags: [], valued: ['-i', '-o', '-e', '--input', '--output', '--error'] },
  sudo: {
    flags: ['-A', '-b', '-E', '-H', '-k', '-n', '-P', '-S', '--preserve-env', '--non-interactive'],
    valued: ['-u', '-g', '-p', '-r', '-t', '-T', '--user', '--group'],
    assignments: true,
    listed: true,
  },
  doas: { flags: ['-n'], valued: ['-u'], listed: true },
  xargs: {
    flags: ['-0', '-r', '-t', '-x', '-o', '--null', '--no-run-if-empty', '--verbose', '--exit'],
    valued: [
      '-I',
      '-n',
      '-P',
      '-L',
      '-d',
      '-s',
      '-E',
      '--replace',
      '--max-args',
      '--max-procs',
      '--delimiter',
    ],
    listed: true,
    extended: true,
  },
};

/** The index of the command that a wrapper runs; null if its options are not understood. */
export function commandStart(
  words: readonly ShellWord[],
  base: string,
  wrapper: Wrapper,
  into: AnalysisSink,
): number | null {
  const end = optionsEnd(words, base, wrapper);
  if (end === null) return null;
  const start = end + (wrapper.positionals ?? 0);
  return wrapper.assignments === true ? assignmentsEnd(words, start, into) : start;
}

function optionsEnd(words: readonly ShellWord[], base: string, wrapper: Wrapper): number | null {
  for (let at = 1; at < words.length; at += 1) {
    const value = words[at]?.value ?? null;
    // An unknown word may be an option, or several words.
    if (value === null) return null;
    if (value === '--') return at + 1;
    if (!value.startsWith('-')) return at;
    if (wrapper.flags.includes(value) || (base === 'nice' && /^-\d+$/.test(value))) continue;
    if (wrapper.valued.includes(value)) at += 1;
    else if (!wrapper.valued.some((option) => isAttached(value, option))) return null;
  }
  return words.length;
}

function assignmentsEnd(words: readonly ShellWord[], start: number, into: AnalysisSink): number {
  for (let at = start; at < words.length; at += 1) {
    const name = /^([A-Za-z_]\w*)=/.exec(words[at]?.value ?? '')?.[1];
    if (name === undefined) return at;
    if (!isHarmlessVariable(name)) into.unknown.push(`it sets the variable ${name}`);
  }
  return words.length;
}

function isAttached(value: string, option: string): boolean {
  return option.startsWith('--')
    ? value.startsWith(`${option}=`)
    : value.startsWith(option) && value.length > option.length && !value.startsWith('--');
}
