import type { KnownVariables, ShellWord } from './shell-words.ts';

/** One simple command of a script: the name and what it is given. */
export type CommandPart = {
  readonly words: readonly ShellWord[];
  readonly text: string;
  /** True if no rule can allow it, though the mode may. */
  readonly unruled?: true;
};

/** A file that the shell itself opens for a command. */
export type FileUse = { readonly access: 'read' | 'write'; readonly target: ShellWord };

/** Everything a script would run, as far as it can be known without running it. */
export type CommandAnalysis = {
  readonly parts: readonly CommandPart[];
  readonly files: readonly FileUse[];
  /** Folders that a relative path may be meant from, besides the first one. */
  readonly folders: readonly ShellWord[];
  /** True if the script leaves the folder it starts in. */
  readonly moved: boolean;
  /** Words that variables get, and that may be a path later on. */
  readonly mentions: readonly ShellWord[];
  /** Why not all of it can be known; empty if it can. A script with any of these is never allowed by a rule. */
  readonly unknown: readonly string[];
  /** Functions that call themselves more than once: a fork bomb. */
  readonly bombs: readonly string[];
};

/** A simple command, before it is known whether it only runs another one. */
export type SimpleCommand = {
  readonly words: readonly ShellWord[];
  readonly text: string;
  /** What a here-document feeds to it, if that is known. */
  readonly input: string | null;
};

/** What takes in the pieces while a script is walked through. */
export interface AnalysisSink {
  readonly parts: CommandPart[];
  readonly files: FileUse[];
  readonly folders: ShellWord[];
  readonly mentions: ShellWord[];
  readonly unknown: string[];
  readonly known: KnownVariables;
  moved: boolean;
  /** Takes a simple command, which may only run another one. */
  command(command: SimpleCommand): void;
  /** Walks through a script that a command is given as text. */
  script(source: string): void;
}
