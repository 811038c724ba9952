import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { SessionHostPorts } from './ports.ts';

/** The log file of the window's own host; null where there is none, or where its folder is not known. */
export async function hostLog({
  hosts,
  program,
  log,
}: SessionHostPorts): Promise<vscode.Uri | null> {
  const { connection } = hosts.own.agent;
  try {
    const folder =
      connection === null
        ? program(hosts.own).env['PILOTHOUSE_HOME']
        : (await connection.request('_pilothouse/store/status', {})).dataFolder;
    if (folder === undefined) return null;
    const file = vscode.Uri.joinPath(vscode.Uri.file(folder), 'log', 'agent-core.log');
    await vscode.workspace.fs.stat(file);
    return file;
  } catch (error) {
    log(`the log of the session host was not found: ${messageOf(error)}`);
    return null;
  }
}
