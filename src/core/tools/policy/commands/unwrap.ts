import path from 'node:path';
import type { AnalysisSink, SimpleCommand } from './analysis-types.ts';
import { unwrapFind } from './find-command.ts';
import { checkVariables, maySplit } from './set-variables.ts';
import { hidePlaceholder, type ShellWord, textOf, UNKNOWN_WORD } from './shell-words.ts';
import { commandStart, WRAPPERS, type Wrapper } from './wrappers.ts';

/** Programs whose options say what they run in too many ways to follow. */
const UNFOLLOWED = new Set([
  'alias',
  'enable',
  'hash',
  'bind',
  'complete',
  'compgen',
  'fc',
  'parallel',
  'chroot',
  'unshare',
  'nsenter',
  'bwrap',
  'flock',
  'script',
  'expect',
  'su',
  'runuser',
  'pkexec',
  'run0',
  'systemd-run',
  'at',
  'batch',
  'crontab',
  'zsh',
  'fish',
  'csh',
  'tcsh',
  'pwsh',
  'busybox',
  'toybox',
  'strace',
  'ltrace',
  'gdb',
  'entr',
  'start-stop-daemon',
]);
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'rbash']);
/** Builtins that set variables, or evaluate parts of their arguments as arithmetic, where `a[$(…)]` runs a command. */
const EVALUATING = new Set([
  'let',
  'set',
  'printf',
  'read',
  'unset',
  'test',
  '[',
  'mapfile',
  'readarray',
  'wait',
  'getopts',
  'declare',
  'typeset',
  'local',
  'readonly',
  'export',
]);
const FINDERS = new Set(['find', 'fd', 'fdfind']);
const TEXT_RUNNERS = new Set(['eval', 'watch', 'trap']);

/** Adds a command to the analysis: itself, or what it would run in its place, or both. */
export function unwrap(command: SimpleCommand, into: AnalysisSink): void {
  const name = command.words[0]?.value ?? null;
  if (name === null) {
    into.unknown.push(`the name of a command in \`${command.text}\` is only known when it runs`);
    into.parts.push(command);
    return;
  }
  const base = path.posix.basename(name);
  const wrapper = Object.hasOwn(WRAPPERS, base) ? WRAPPERS[base] : undefined;
  if (wrapper !== undefined) unwrapOptions(command, base, wrapper, into);
  else if (SHELLS.has(base)) unwrapShell(command, into);
  else if (FINDERS.has(base)) unwrapFind(command, into);
  else if (TEXT_RUNNERS.has(base)) unwrapText(command, base, into);
  else plainCommand(command, base, into);
}

function plainCommand(command: SimpleCommand, base: string, into: AnalysisSink): void {
  into.parts.push(maySplit(command, base) ? { ...command, unruled: true } : command);
  if (UNFOLLOWED.has(base)) into.unknown.push(`it can't be told what \`${base}\` runs`);
  if (EVALUATING.has(base)) checkVariables(command, base, into);
  if (base === 'cd' || base === 'pushd' || base === 'popd') into.moved = true;
  if (base === 'cd' || base === 'pushd') noteFolder(command, into);
  if (base === 'shopt' && command.words.some(({ value }) => value === null || value === 'dotglob'))
    into.unknown.push('it may let wildcards match hidden files');
}

function unwrapOptions(
  command: SimpleCommand,
  base: string,
  wrapper: Wrapper,
  into: AnalysisSink,
): void {
  const lookup = base === 'command' && ['-v', '-V'].includes(command.words[1]?.value ?? '');
  if (wrapper.listed === true || lookup) into.parts.push(command);
  if (lookup) return;
  const start = commandStart(command.words, base, wrapper, into);
  if (start === null) {
    if (wrapper.listed !== true) into.parts.push(command);
    into.unknown.push(`it can't be told what \`${command.text}\` runs`);
    return;
  }
  const inner = command.words.slice(start);
  if (inner.length === 0) {
    if (wrapper.listed !== true) into.parts.push(command);
    return;
  }
  const words = wrapper.extended === true ? fedFromOutside(command.words, start) : inner;
  into.command({ words, text: textOf(words), input: command.input });
}

/** The words of an xargs command: those that hold its placeholder, and what comes after, are unknown. */
function fedFromOutside(words: readonly ShellWord[], start: number): readonly ShellWord[] {
  const options = words.slice(1, start).map(({ value }) => value ?? '');
  const at = options.findIndex((option) => option === '-I' || option === '--replace');
  const attached = options.find((option) => /^(-I.|--replace=)/.test(option));
  const placeholder = at >= 0 ? options[at + 1] : attached?.replace(/^(-I|--replace=)/, '');
  const inner = words.slice(start);
  if (placeholder === undefined || placeholder === '') return [...inner, UNKNOWN_WORD];
  return hidePlaceholder(inner, placeholder);
}

function unwrapShell(command: SimpleCommand, into: AnalysisSink): void {
  const script = shellScript(command);
  if (script !== null) {
    into.script(script);
    return;
  }
  into.parts.push(command);
  const runsFile = command.words
    .slice(1)
    .find(({ value }) => value === null || !/^([-+]|$)/.test(value) || value === '-s');
  const first = command.words[1]?.value ?? '';
  if (first === '--version' || first === '--help') return;
  const file = runsFile?.value ?? null;
  const isScript = file !== null && file !== '-s' && !hasScriptOption(command);
  if (!isScript) into.unknown.push(`it can't be told what \`${command.text}\` runs`);
}

const SCRIPT_OPTION = /^-[a-zA-Z]*c[a-zA-Z]*$/;

function hasScriptOption(command: SimpleCommand): boolean {
  return command.words.slice(1).some(({ value }) => SCRIPT_OPTION.test(value ?? ''));
}

/** The script of `sh -c SCRIPT`, or of a shell that reads a here-document; null if it is neither, or not known. */
function shellScript({ words, input }: SimpleCommand): string | null {
  if (words.length === 1) return input;
  for (let at = 1; at < words.length; at += 1) {
    const value = words[at]?.value ?? '';
    if (SCRIPT_OPTION.test(value)) {
      // Options may still follow; which word is the script is then anyone's guess.
      const script = words[at + 1]?.value ?? null;
      return script?.startsWith('-') === true ? null : script;
    }
    if (value === '-o' || value === '+o') at += 1;
    else if (!/^[-+][a-zA-Z]+$/.test(value)) return null;
  }
  return null;
}

/** Commands that are given a script as words. */
function unwrapText(command: SimpleCommand, base: string, into: AnalysisSink): void {
  const values = command.words.slice(1).map(({ value }) => value);
  const known = values.filter((value) => value !== null);
  if (known.length < values.length || (base === 'watch' && known[0]?.startsWith('-') === true)) {
    into.parts.push(command);
    into.unknown.push(`it can't be told what \`${command.text}\` runs`);
  } else if (base === 'trap') {
    if (known[0] !== undefined && known[0] !== '-') into.script(known[0]);
  } else {
    into.script(known.join(' '));
  }
}

function noteFolder(command: SimpleCommand, into: AnalysisSink): void {
  const [target] = command.words.slice(1).filter(({ value }) => value?.startsWith('-') !== true);
  const dash = command.words.some(({ value }) => value === '-');
  if (target?.value === null || dash)
    into.unknown.push(`it can't be told where \`${command.text}\` leads`);
  else into.folders.push(target ?? { text: '~', value: into.known.home, globPrefix: null });
}
