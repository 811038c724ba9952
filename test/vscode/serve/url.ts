/** What a window opens with. Paths are absolute. */
export interface WindowOptions {
  readonly folder?: string;
  readonly workspace?: string;
  /** Needs a server with `development`. */
  readonly extensionDevelopmentPaths?: readonly string[];
  /** Needs a server with `development`. */
  readonly extensionTestsPath?: string;
}

/** A path of this machine as the web workbench names it. */
function remoteUri(path: string): string {
  return `vscode-remote://remote${encodeURI(path)}`;
}

/** The address of a window of the server at `base`. */
export function windowUrl(base: string, options: WindowOptions): string {
  const payload: [string, string][] = [];
  for (const path of options.extensionDevelopmentPaths ?? []) {
    payload.push(['extensionDevelopmentPath', remoteUri(path)]);
  }
  if (options.extensionTestsPath) {
    payload.push(['extensionTestsPath', remoteUri(options.extensionTestsPath)]);
  }
  const url = new URL('/', base);
  if (options.workspace) url.searchParams.set('workspace', options.workspace);
  else if (options.folder) url.searchParams.set('folder', options.folder);
  if (payload.length > 0) url.searchParams.set('payload', JSON.stringify(payload));
  return url.href;
}
