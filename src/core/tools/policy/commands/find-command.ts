import path from 'node:path';
import type { AnalysisSink, SimpleCommand } from './analysis-types.ts';
import { hidePlaceholder, type ShellWord, textOf, UNKNOWN_WORD } from './shell-words.ts';

const FIND_EXEC = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const FD_EXEC = new Set(['-x', '-X', '--exec', '--exec-batch']);
const FIND_OUTPUT = new Set(['-fprint', '-fprint0', '-fprintf', '-fls']);
const RM: ShellWord = { text: 'rm', value: 'rm', globPrefix: null };

/** Takes a `find` or `fd` command: itself, and what it runs, deletes or writes. */
export function unwrapFind(command: SimpleCommand, into: AnalysisSink): void {
  into.parts.push(command);
  const { words } = command;
  const exec = path.posix.basename(words[0]?.value ?? '') === 'find' ? FIND_EXEC : FD_EXEC;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? UNKNOWN_WORD;
    const value = word.value ?? '';
    if (word.value === null && word.globPrefix === null)
      into.unknown.push(`\`${word.text}\` may be an option that runs something`);
    if (exec.has(value)) at = executed(words, at, into);
    else if (value === '-delete')
      into.parts.push({ words: [RM, UNKNOWN_WORD], text: 'rm … (find -delete)' });
    else if (FIND_OUTPUT.has(value))
      into.files.push({ access: 'write', target: words[at + 1] ?? UNKNOWN_WORD });
  }
}

/** Takes the command of an `-exec`; returns where it ends. */
function executed(words: readonly ShellWord[], at: number, into: AnalysisSink): number {
  const found = words.findIndex((each, i) => i > at && (each.value === ';' || each.value === '+'));
  const end = found === -1 ? words.length : found;
  const inner = hidePlaceholder(words.slice(at + 1, end), '{}');
  into.command({ words: [...inner, UNKNOWN_WORD], text: textOf(inner), input: null });
  return end;
}
