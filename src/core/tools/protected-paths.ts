import { realpathSync } from 'node:fs';
import path from 'node:path';
import { isInside } from './files/resolve-path.ts';
import { processGuard } from './process-paths.ts';

/** What a protected path is: never to be touched, or only after asking a person. */
export type Guard = { readonly level: 'deny' | 'ask'; readonly reason: string };

/** Knows the paths that need care whatever the mode and the rules say. */
export interface ProtectedPaths {
  /** Null for an ordinary path. `file` is absolute and canonical. */
  guard(file: string, access: 'read' | 'write'): Guard | null;
  /** Folders and files that a path which is only known in part must not lead to unasked. */
  readonly places: readonly string[];
}

/** File names that usually hold secrets. Examples and templates of them do not. */
const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/,
  /^\.envrc$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /^\.(npmrc|netrc|pypirc|pgpass|git-credentials|htpasswd)$/,
  /^(credentials|secrets?)\.(json|ya?ml|toml)$/,
];
const EXAMPLE = /\.(example|sample|template|dist|pub)$/;

/** Folders and files under the home folder that hold credentials of other programs. */
const SECRET_PLACES = [
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker/config.json',
  '.config/gh',
  '.config/gcloud',
  '.password-store',
];

/**
 * Protects, in this order:
 * - the data folder (sessions, policy, keys): denied, because a tool that writes there could grant itself anything;
 * - what a process shows below `/proc`: environment, memory and files denied, the rest asked;
 * - `~/.ssh`: denied, but for reading public keys, `config` and `known_hosts`;
 * - writes inside any `.git`: denied, because hooks and configuration there run as the person;
 * - files that usually hold secrets, and credentials of other programs: asked, reads too;
 * - writes to editor settings (`.vscode`, `*.code-workspace`): asked, because they can start programs.
 */
export function createProtectedPaths(options: {
  readonly dataFolder: string;
  readonly home: string;
  /** More folders that no tool may touch. */
  readonly deny?: readonly string[];
}): ProtectedPaths {
  const denied = [options.dataFolder, ...(options.deny ?? [])].flatMap(bothNames);
  const homes = bothNames(options.home);
  const keys = homes.map((home) => path.join(home, '.ssh'));
  const places = homes.flatMap((home) => SECRET_PLACES.map((place) => path.join(home, place)));
  return {
    places: [...denied, ...keys, ...places],
    guard(file, access) {
      if (denied.some((folder) => isInside(file, folder, path)))
        return deny("is in the program's own data folder, which tools may not touch");
      const ofProcess = processGuard(file);
      if (ofProcess !== null) return ofProcess;
      const ssh = keys.find((folder) => isInside(file, folder, path));
      if (ssh !== undefined && !(access === 'read' && isPublicSsh(path.relative(ssh, file))))
        return deny('is in the folder of SSH keys, which tools may not touch');
      const names = file.toLowerCase().split(/[/\\]/);
      if (access === 'write' && names.includes('.git'))
        return deny(
          "is inside a .git folder, where a write could run code; use git's own commands",
        );
      const name = names.at(-1) ?? '';
      if (places.some((place) => isInside(file, place, path)) || isSecretName(name))
        return { level: 'ask', reason: 'may hold secrets' };
      if (access === 'write' && (names.includes('.vscode') || name.endsWith('.code-workspace')))
        return { level: 'ask', reason: 'is an editor setting, which can start programs' };
      return null;
    },
  };
}

/** A folder as it was named and, where it is reached through a link, as it really is: what is guarded is canonical. */
export function bothNames(folder: string): readonly string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])];
  } catch (error) {
    // A folder that does not exist yet has one name only.
    if (error instanceof Error && 'code' in error) return [folder];
    throw error;
  }
}

function deny(reason: string): Guard {
  return { level: 'deny', reason };
}

function isPublicSsh(relative: string): boolean {
  return relative.endsWith('.pub') || relative === 'config' || relative === 'known_hosts';
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.some((pattern) => pattern.test(name)) && !EXAMPLE.test(name);
}
