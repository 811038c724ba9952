import * as vscode from 'vscode';

/** How long a listing of the workspace is good for, in milliseconds. */
const FRESH_MS = 15_000;
const MAX_FILES = 20_000;

/** A file of the workspace, with its path as it is shown. */
export type WorkspaceFile = { readonly uri: vscode.Uri; readonly path: string };

/** Lists the workspace's files for the @-mention list; what `files.exclude` and `search.exclude` hide is left out. */
export class WorkspaceFiles {
  #listing: Promise<readonly WorkspaceFile[]> | null = null;
  #listedAt = 0;

  async list(now: number): Promise<readonly WorkspaceFile[]> {
    if (!this.#listing || now - this.#listedAt > FRESH_MS) {
      this.#listedAt = now;
      this.#listing = find();
    }
    return this.#listing;
  }
}

async function find(): Promise<readonly WorkspaceFile[]> {
  const uris = await vscode.workspace.findFiles('**/*', excludeGlob(), MAX_FILES);
  return uris.map((uri) => ({ uri, path: vscode.workspace.asRelativePath(uri) }));
}

function excludeGlob(): string | undefined {
  const rules = vscode.workspace
    .getConfiguration('search')
    .get<Record<string, unknown>>('exclude', {});
  const globs = Object.keys(rules).filter((glob) => rules[glob] === true);
  if (globs.length === 0) return undefined;
  return globs.length === 1 ? globs[0] : `{${globs.join(',')}}`;
}
