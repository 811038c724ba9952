import {
  type Assignment,
  type Command,
  forEachChild,
  parse,
  type Redirect,
  type SyntaxNode,
  type Word,
} from 'unbash';
import type {
  AnalysisSink,
  CommandAnalysis,
  CommandPart,
  FileUse,
  SimpleCommand,
} from './analysis-types.ts';
import { evaluates } from './evaluated-text.ts';
import { isHarmlessVariable } from './harmless-variables.ts';
import { variableSetBy } from './set-variables.ts';
import { type KnownVariables, type ShellWord, shellWord } from './shell-words.ts';
import { unwrap } from './unwrap.ts';

/** Collects while a script is walked through. */
class AnalysisBuilder implements AnalysisSink {
  readonly parts: CommandPart[] = [];
  readonly files: FileUse[] = [];
  readonly folders: ShellWord[] = [];
  readonly mentions: ShellWord[] = [];
  readonly unknown: string[] = [];
  readonly bombs: string[] = [];
  readonly known: KnownVariables;
  moved = false;
  #depth = 0;

  constructor(known: KnownVariables) {
    this.known = known;
  }

  /** Walks through a script that a command is given as text. */
  script(source: string): void {
    if (this.#depth >= MAX_DEPTH || source.length > MAX_LENGTH) {
      this.unknown.push('it is too long or too deeply nested');
      return;
    }
    this.#depth += 1;
    this.#visit(parse(source), source);
    this.#depth -= 1;
  }

  command(command: SimpleCommand): void {
    if (this.#depth >= MAX_DEPTH) {
      this.unknown.push('it is too deeply nested');
      return;
    }
    this.#depth += 1;
    unwrap(command, this);
    this.#depth -= 1;
  }

  #visit(node: SyntaxNode, source: string): void {
    const own = node.type === 'Script' ? (node.source ?? source) : source;
    this.#note(node, own);
    forEachChild(node, (child) => this.#visit(child, own));
  }

  #note(node: SyntaxNode, source: string): void {
    const evaluated = evaluates(node, source);
    if (evaluated !== null) this.unknown.push(evaluated);
    const variable = variableSetBy(node);
    if (variable !== null && !isHarmlessVariable(variable))
      this.unknown.push(`it sets the variable ${variable}`);
    if (node.type === 'Command') this.#command(node, source);
    else if (node.type === 'Redirect') this.#redirect(node);
    else if (node.type === 'Assignment') this.#assignment(node, source.slice(node.pos, node.end));
    else if (node.type === 'Function') this.#function(node);
    else if (node.type === 'For' || node.type === 'Select') this.#mention(node.wordlist ?? []);
    else if (node.type === 'HereString') this.#mention(node.target ? [node.target] : []);
    else this.#noteUnknown(node);
  }

  #noteUnknown(node: SyntaxNode): void {
    if (node.type === 'Script' && node.errors !== undefined && node.errors.length > 0)
      this.unknown.push(`it can't be parsed (${node.errors[0]?.message ?? 'error'})`);
    if ('script' in node && node.script === undefined)
      this.unknown.push('a part of it can not be parsed');
    if (node.type === 'ParameterExpansion')
      if (node.operation?.type === 'Transform' || node.prefix === '!')
        this.unknown.push(`${node.text} may run what a variable holds`);
  }

  #command(node: Command, source: string): void {
    if (node.name === undefined) return;
    const args = node.args.map((arg) =>
      arg.type === 'Word' ? shellWord(arg, this.known) : assignmentWord(arg, this.known),
    );
    const words = [shellWord(node.name, this.known), ...args];
    const input = node.redirects.map((each) => inputText(each, this.known)).find((t) => t !== null);
    this.command({ words, text: source.slice(node.pos, node.end), input: input ?? null });
  }

  #redirect(node: Redirect): void {
    if (node.target === undefined) return;
    const target = shellWord(node.target, this.known);
    // `2>&1` and `>&-` name descriptors, not files.
    if (node.operator.includes('&') && /^(\d+-?|-)$/.test(node.target.text)) return;
    const reads = node.operator === '<' || node.operator === '<&';
    this.files.push({ access: reads ? 'read' : 'write', target });
  }

  #mention(words: readonly Word[]): void {
    this.mentions.push(...words.map((word) => shellWord(word, this.known)));
  }

  #assignment({ name, value }: Assignment, text: string): void {
    this.#mention(value.type === 'Word' ? [value] : value.elements);
    if (!isHarmlessVariable(name)) this.unknown.push(`it sets the variable ${name}`);
    else if (/\$\(|`/.test(text)) this.unknown.push(`it keeps a command in the variable ${name}`);
  }

  #function(node: Extract<SyntaxNode, { type: 'Function' }>): void {
    const name = node.name.value;
    let calls = 0;
    const count = (child: SyntaxNode): void => {
      if (child.type === 'Command' && child.name?.value === name) calls += 1;
      forEachChild(child, count);
    };
    count(node.body);
    if (calls > 1) this.bombs.push(name);
  }
}

const MAX_DEPTH = 8;
const MAX_LENGTH = 64 * 1024;

/** Finds every command that a shell script would run. */
export function analyseCommand(source: string, known: KnownVariables): CommandAnalysis {
  const builder = new AnalysisBuilder(known);
  builder.script(source);
  if (builder.moved && /\$\{?PWD/.test(source))
    builder.unknown.push('it uses PWD after it has changed the folder');
  return builder;
}

function assignmentWord(node: Assignment, known: KnownVariables): ShellWord {
  const word = node.value.type === 'Word' ? shellWord(node.value, known) : null;
  const value = word?.value ?? null;
  const named = `${node.name}${node.append === true ? '+' : ''}=`;
  const beginning = named + (word?.beginning ?? '');
  return value === null
    ? { text: node.text, value, globPrefix: null, beginning }
    : { text: node.text, value: named + value, globPrefix: null };
}

/** The text that a here-document or here-string feeds to the command; null if there is none or it is only known then. */
function inputText(node: Command['redirects'][number], known: KnownVariables): string | null {
  if (node.type === 'HereString')
    return node.target === undefined ? null : shellWord(node.target, known).value;
  if (node.type !== 'HereDoc') return null;
  return node.delimiter?.quoted === true || node.body.parts === undefined ? node.body.text : null;
}
