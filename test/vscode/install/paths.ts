import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The npm package that carries a ready-built VS Code server, and its pinned version. */
export const serverPackage = 'code-server@4.139.1';

/** The checkout this harness belongs to. */
export const checkout = resolve(import.meta.dirname, '../../..');

/** Where downloads and user data of the harness live: never inside the checkout. */
export function cacheFolder(): string {
  const override = process.env['PILOTHOUSE_CACHE'];
  if (override) return resolve(override);
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pilothouse');
}

/** Raised when what is done to the package changes, so that an older installation is not used. */
const revision = 2;

/** The folder of the installed server; its name changes with everything its content depends on. */
export function installFolder(): string {
  const version = serverPackage.slice(serverPackage.lastIndexOf('@') + 1);
  return join(cacheFolder(), `vscode-${version}-${process.platform}-${process.arch}-${revision}`);
}

/**
 * The root whose `include/node` holds the C headers of the Node that runs this, if it has them.
 * With it, native modules are compiled without asking nodejs.org.
 */
export function nodeHeadersRoot(): string | undefined {
  const root = resolve(process.execPath, '../..');
  const platformPackage = `node-${process.platform}-${process.arch}`;
  return [
    root,
    join(root, 'node_modules', platformPackage),
    join(root, '..', platformPackage),
  ].find((candidate) => existsSync(join(candidate, 'include/node/node_api.h')));
}
