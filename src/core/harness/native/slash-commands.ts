import type { AvailableCommand } from '../../../protocol/acp.ts';

type SlashCommand = AvailableCommand & { readonly prompt: (args: string) => string };

const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'review',
    description: 'Review the uncommitted changes of the working folder',
    input: { hint: 'what to look at, optional' },
    prompt: (args) =>
      `Review the uncommitted changes in the working folder. Read the diff and the code around it. Report bugs, missing tests and unclear code, the most serious first, each with file and line. Change nothing.${focus(args)}`,
  },
  {
    name: 'explain',
    description: 'Explain how a part of the code works',
    input: { hint: 'file, symbol or question' },
    prompt: (args) =>
      `Explain how this works, with references to files and lines, for a colleague who is new to the code. Change nothing.${focus(args)}`,
  },
  {
    name: 'fix',
    description: 'Find the cause of a problem and mend it',
    input: { hint: 'the error or what goes wrong' },
    prompt: (args) =>
      `Find the cause of the problem below, mend it, and add a test that fails without the fix. Say what the cause was.${focus(args)}`,
  },
  {
    name: 'tests',
    description: 'Write tests for a part of the code',
    input: { hint: 'file or symbol' },
    prompt: (args) =>
      `Write tests for the code below, in the style and with the tools of the tests that are already there, and run them.${focus(args)}`,
  },
];

/** The slash commands of the native harness, as ACP announces them. */
export const SLASH_COMMANDS: readonly AvailableCommand[] = COMMANDS.map(
  ({ name, description, input }) => ({
    name,
    description,
    ...(input === undefined ? {} : { input }),
  }),
);

/** What the model reads for `/name arguments`; null if the text is not one of the commands. */
export function expandSlashCommand(text: string): string | null {
  const match = /^\/(?<name>[a-z][a-z-]*)(?:\s+(?<args>[\s\S]*))?$/u.exec(text.trim());
  const command = COMMANDS.find(({ name }) => name === match?.groups?.['name']);
  return command === undefined ? null : command.prompt(match?.groups?.['args']?.trim() ?? '');
}

function focus(args: string): string {
  return args === '' ? '' : `\n\n${args}`;
}
