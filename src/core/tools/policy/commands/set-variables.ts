import type { SyntaxNode } from 'unbash';
import type { AnalysisSink, SimpleCommand } from './analysis-types.ts';
import { isLiteral } from './evaluated-text.ts';
import { isHarmlessVariable } from './harmless-variables.ts';
import type { ShellWord } from './shell-words.ts';

/** The variable that a construct of the shell sets by its name; null if it sets none. Assignments have their own rule. */
export function variableSetBy(node: SyntaxNode): string | null {
  if (node.type === 'For' || node.type === 'Select') return node.name.value;
  if (node.type === 'Coproc') return node.name?.value ?? null;
  if (node.type === 'FileDescriptorVariable') return node.name;
  if (node.type === 'ParameterExpansion' && node.operation?.type === 'Default')
    return node.operation.operator.endsWith('=') ? node.parameter : null;
  return null;
}

/** How a builtin reads its words: letters of options with a value, those whose value is a variable, and the operands. */
type Setter = {
  readonly valued: string;
  readonly named: string;
  /** Which operands are variables: all, those from an index on, or none. */
  readonly from: number;
};

const NONE = Number.POSITIVE_INFINITY;
const SETTERS: Readonly<Record<string, Setter>> = {
  read: { valued: 'adinNptu', named: 'a', from: 0 },
  mapfile: { valued: 'dnOsuCc', named: '', from: 0 },
  readarray: { valued: 'dnOsuCc', named: '', from: 0 },
  printf: { valued: 'v', named: 'v', from: NONE },
  wait: { valued: 'p', named: 'p', from: NONE },
  getopts: { valued: '', named: '', from: 1 },
  unset: { valued: '', named: '', from: 0 },
};
const DECLARING = new Set(['declare', 'typeset', 'local', 'readonly', 'export']);

/**
 * Notes what a builtin does to variables: setting one that may decide what runs, or evaluating a word that nobody knows
 * beforehand, which may be a subscript that runs a command.
 */
export function checkVariables(command: SimpleCommand, base: string, into: AnalysisSink): void {
  const args = command.words.slice(1);
  for (const word of args)
    if (/\$\(|`/.test(word.value ?? ''))
      into.unknown.push(`\`${word.text}\` may be run by ${base}`);
  if (DECLARING.has(base)) for (const word of args) checkDeclared(word, into);
  const setter = Object.hasOwn(SETTERS, base) ? SETTERS[base] : undefined;
  if (setter !== undefined) checkSetter(args, base, setter, into);
  if (base === 'let' && !args.every(({ value }) => value !== null && isLiteral(value)))
    into.unknown.push(`\`${command.text}\` may run what a variable holds`);
  if (base === 'set' && args.some(({ value }) => value === null || /^-\w*k|^keyword$/.test(value)))
    into.unknown.push(`\`${command.text}\` may change how commands are read`);
  if (base === 'test' || base === '[') checkTest(args, command.text, into);
}

function checkDeclared({ value, text }: ShellWord, into: AnalysisSink): void {
  const written = value ?? text;
  // A reference (-n) sets another variable than it names, and what an integer (-i) gets is evaluated.
  if (value !== null && /^[-+]/.test(value)) {
    if (/[ni]/.test(value)) into.unknown.push(`\`${value}\` changes what setting a variable does`);
    return;
  }
  const name = /^([A-Za-z_]\w*)(\+?=|$)/.exec(written)?.[1];
  if (name === undefined || (value === null && !written.includes('=')))
    into.unknown.push(`it sets the variable ${text}`);
  else checkName(name, into);
}

function checkSetter(
  args: readonly ShellWord[],
  base: string,
  setter: Setter,
  into: AnalysisSink,
): void {
  let at = 0;
  for (; at < args.length; at += 1) {
    const word = args[at];
    const value = word?.value ?? null;
    if (value === null) {
      checkHiddenOption(word, base, setter, into);
      return;
    }
    if (value === '--') at += 1;
    if (!/^-./.test(value) || value === '--') break;
    if (takesNext(value, args[at + 1], base, setter, into)) at += 1;
  }
  for (const word of args.slice(at).slice(setter.from)) checkName(word.value ?? '', into);
}

/** A word that starts with text of its own is no option; any other may name a variable. */
function checkHiddenOption(
  word: ShellWord | undefined,
  base: string,
  setter: Setter,
  into: AnalysisSink,
): void {
  const text = word?.text ?? '';
  if (setter.from === NONE && /^["']?[^"'$`*?[{~-]/.test(text)) return;
  into.unknown.push(`\`${text}\` may be a variable that ${base} sets`);
}

/** Looks at one option; true if the next word is its value. */
function takesNext(
  option: string,
  next: ShellWord | undefined,
  base: string,
  setter: Setter,
  into: AnalysisSink,
): boolean {
  const cut = [...option].findIndex((letter, i) => i > 0 && setter.valued.includes(letter));
  if (cut === -1) return false;
  if (option[cut] === 'C') into.unknown.push(`${base} runs a command for each line`);
  const attached = option.slice(cut + 1);
  const given = attached === '' ? (next?.value ?? null) : attached;
  if (setter.named.includes(option[cut] ?? ' ')) checkName(given ?? '', into);
  return attached === '';
}

function checkName(name: string, into: AnalysisSink): void {
  if (!isHarmlessVariable(name))
    into.unknown.push(name === '' ? 'it sets a variable' : `it sets the variable ${name}`);
}

/** `-v` and `-R` evaluate the subscript of their word; an unknown word where an operator may stand can be one of them. */
function checkTest(args: readonly ShellWord[], text: string, into: AnalysisSink): void {
  const words = args.at(-1)?.value === ']' ? args.slice(0, -1) : args;
  const named = words.some(
    ({ value }, index) =>
      (value === '-v' || value === '-R') &&
      words[index + 1] !== undefined &&
      !/^[A-Za-z_]\w*$/.test(words[index + 1]?.value ?? ''),
  );
  const hidden = words.some(
    (word, index) => word.value === null && index + 1 < words.length && !isOperand(words, index),
  );
  if (named || hidden) into.unknown.push(`\`${text}\` may run what a variable holds`);
}

/** True if the word after is an operator of two words, or the word before is any: then this one is compared only. */
function isOperand(words: readonly ShellWord[], index: number): boolean {
  const isOperator = (at: number, pattern: RegExp): boolean => pattern.test(words[at]?.value ?? '');
  return (
    isOperator(index + 1, /^(=|==|!=|<|>|-eq|-ne|-lt|-le|-gt|-ge|-ef|-nt|-ot|-a|-o)$/) ||
    isOperator(index - 1, /^(=|==|!=|<|>|-[a-zA-Z]{1,2})$/)
  );
}

/** True for a test with a word that may become several, among them `-v` and a subscript that runs a command. */
export function maySplit(command: SimpleCommand, base: string): boolean {
  if (base !== 'test' && base !== '[') return false;
  return command.words.some(
    ({ value, text }) => value === null && !/^[^"$`'\\]*"([^"'`\\(]|\(\()*"$/.test(text),
  );
}
