import { type ChildProcess, spawn } from 'node:child_process';
import { OWNER_VARIABLE } from './strays.ts';

/**
 * Reads `+ID` and `-ID` lines and, when its input ends, kills every group that was added and not taken out. Written
 * for the POSIX shell, so that it costs a megabyte and starts in a millisecond.
 */
const SCRIPT = `
set --
while read -r line; do
  case $line in
    +*) set -- "$@" "\${line#+}" ;;
    -*) kept=''; for id in "$@"; do [ "$id" = "\${line#-}" ] || kept="$kept $id"; done; set -- $kept ;;
  esac
done
for id in "$@"; do kill -KILL "-$id" 2>/dev/null; done
[ -n "$1" ] && for file in /proc/[0-9]*/environ; do
  if grep -qa "${OWNER_VARIABLE}=$OWNER" "$file" 2>/dev/null; then id=\${file#/proc/}; kill -KILL "\${id%/environ}" 2>/dev/null; fi
done
`;

/**
 * Ends process groups that outlive this process, also where it was killed and could not do it itself. It is a small
 * process of its own, started with the first group, that notices the end of this one by the end of its input.
 */
export interface Reaper {
  /** Watches a group by its leader's id. */
  add(groupId: number): void;
  /** A group is gone; its number may soon mean another one. */
  remove(groupId: number): void;
}

/** Makes a reaper for the processes marked with `run`; where process groups do not exist it does nothing. */
export function createReaper(run: string, platform: NodeJS.Platform = process.platform): Reaper {
  if (platform === 'win32') return { add: () => undefined, remove: () => undefined };
  let shell: ChildProcess | undefined;
  const tell = (line: string): void => {
    if (shell === undefined) {
      shell = spawn('/bin/sh', ['-c', SCRIPT], {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
        env: { OWNER: run, PATH: '/usr/bin:/bin' },
        cwd: '/',
      });
      // Without a reaper the groups are still ended by whoever started them, as long as this process lives.
      shell.on('error', () => undefined);
      shell.stdin?.on('error', () => undefined);
      shell.unref();
    }
    shell.stdin?.write(`${line}\n`);
  };
  return {
    add: (groupId) => tell(`+${groupId}`),
    remove: (groupId) => tell(`-${groupId}`),
  };
}
