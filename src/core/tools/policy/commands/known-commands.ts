import path from 'node:path';
import type { ShellWord } from './shell-words.ts';

const WRITERS = new Set([
  'rm',
  'rmdir',
  'mv',
  'cp',
  'ln',
  'install',
  'dd',
  'tee',
  'touch',
  'chmod',
  'chown',
  'chgrp',
  'truncate',
  'mkdir',
  'shred',
  'rsync',
  'unlink',
  'patch',
  'sponge',
  'unzip',
  'tar',
  'mkfifo',
  'mknod',
  'setfacl',
]);
const NETWORK = new Set([
  'curl',
  'wget',
  'ssh',
  'scp',
  'sftp',
  'ftp',
  'rsync',
  'nc',
  'ncat',
  'netcat',
  'socat',
  'telnet',
  'gh',
  'glab',
  'aws',
  'gcloud',
  'az',
  'kubectl',
  'helm',
  'terraform',
  'ngrok',
  'cloudflared',
]);
/** Programs of which only some commands talk to others' machines in a way that matters. */
const NETWORK_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['push', 'pull', 'fetch', 'clone', 'ls-remote', 'send-email'],
  npm: ['publish', 'login', 'adduser', 'unpublish', 'deprecate', 'token'],
  pnpm: ['publish', 'login'],
  yarn: ['publish', 'login', 'npm'],
  cargo: ['publish', 'login', 'yank'],
  gem: ['push', 'signin'],
  twine: ['upload'],
  docker: ['push', 'pull', 'login', 'run'],
  podman: ['push', 'pull', 'login', 'run'],
};
/** Commands that have no effect of their own outside the shell they run in. */
const NEUTRAL = new Set([
  'cd',
  'pushd',
  'popd',
  'true',
  'false',
  ':',
  'exit',
  'return',
  'break',
  'continue',
  'shift',
]);

/** True if the words after the name may be files that the command changes. */
export function writesFiles(words: readonly ShellWord[]): boolean {
  const base = nameOf(words);
  const inPlace = words.some(({ value }) => /^(-[a-zA-Z]*i.*|--in-place.*)$/.test(value ?? ''));
  return WRITERS.has(base) || (/^(sed|perl|ruby|gawk)$/.test(base) && inPlace);
}

/** Says why a command counts as use of the network; undefined for others. */
export function networkUse(words: readonly ShellWord[]): string | undefined {
  const base = nameOf(words);
  const commands = Object.hasOwn(NETWORK_COMMANDS, base) ? NETWORK_COMMANDS[base] : undefined;
  const uses =
    NETWORK.has(base) ||
    words.slice(1).some(({ value }) => commands?.includes(value ?? '') === true);
  return uses ? `${base} uses the network` : undefined;
}

/** Says why a command may destroy work that is nowhere else; undefined for others. */
export function destroysWork(words: readonly ShellWord[]): string | undefined {
  const base = nameOf(words);
  const args = words.slice(1).map(({ value }) => value ?? '');
  const has = (...wanted: RegExp[]): boolean =>
    wanted.every((pattern) => args.some((arg) => pattern.test(arg)));
  if (base === 'rm' && has(/^(-[a-zA-Z]*[rR][a-zA-Z]*|--recursive)$/))
    return 'it removes whole folders';
  if (base !== 'git') return undefined;
  const drops =
    has(/^reset$/, /^--hard$/) ||
    has(/^clean$/) ||
    has(/^(checkout|restore)$/, /^(\.|-f|--force)$/);
  return drops ? 'it throws away changes that were not committed' : undefined;
}

/** True for a command that only steers the shell it is in. */
export function isNeutral(words: readonly ShellWord[]): boolean {
  return NEUTRAL.has(words[0]?.value ?? '');
}

function nameOf(words: readonly ShellWord[]): string {
  return path.posix.basename(words[0]?.value ?? '');
}
