import { homedir } from 'node:os';
import { join } from 'node:path';
import type * as vscode from 'vscode';
import { settings } from '../settings/settings.ts';
import { agentEnv } from './agent-env.ts';

/** How agent-core is run on this machine, up to the arguments that say what for. */
export type AgentProgram = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
};

/** Whose data folder it works on, and the token of a remote host. */
export type ProgramAim = {
  /** Empty: the system's data folder. */
  readonly dataFolder: string;
  readonly connectToken: string | null;
};

/** The program as the settings have it now. */
export function agentProgram(
  context: vscode.ExtensionContext,
  { dataFolder, connectToken }: ProgramAim,
): AgentProgram {
  const nodePath = settings.nodePath();
  return {
    command: nodePath === '' ? process.execPath : nodePath,
    args: [join(context.extensionPath, 'dist', 'agent-core.mjs')],
    cwd: homedir(),
    env: agentEnv({
      inherited: process.env,
      extra: settings.agentEnv(),
      dataFolder,
      connectToken,
      isEditor: nodePath === '',
    }),
  };
}
