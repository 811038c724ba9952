import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { SessionId } from '../../session/words.ts';
import { ChildGroup } from './child-group.ts';
import { createReaper } from './reaper.ts';
import type { Sandbox } from './sandbox.ts';
import { killStrays, killStraysNow, OWNER_VARIABLE } from './strays.ts';

/** A command to start for a session. `cwd` and `roots` are canonical. */
export type Launch = {
  readonly sessionId: SessionId;
  readonly command: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly onOutput: (bytes: Buffer) => void;
};

/** Starts commands, and knows every process group of every session until it is gone. */
export interface Launcher {
  /** True if commands run inside a sandbox. */
  readonly sandboxed: boolean;
  launch(launch: Launch): ChildGroup;
  /** Ends every group the session started that still lives, also those whose command has returned. */
  stopSession(sessionId: SessionId): Promise<void>;
  /** Ends everything at once, synchronously. For the exit of this process. */
  killAll(): void;
}

/** How long a group has between SIGTERM and SIGKILL. */
export const GRACE_MS = 500;
const SWEEP_MS = 2000;

/**
 * Makes a launcher. `environment` says what a command of a session gets, already cleaned; `sandbox` is asked at every
 * launch, so that a probe of it need not be over before.
 */
export function createLauncher(options: {
  readonly environment: (sessionId: SessionId, command: string) => NodeJS.ProcessEnv;
  readonly sandbox: () => Sandbox;
}): Launcher {
  const shell = hostShell();
  const groups = new Map<ChildGroup, SessionId>();
  const run = randomUUID();
  const reaper = createReaper(run);
  let sweeper: NodeJS.Timeout | undefined;
  const launched = new Set<SessionId>();

  function forget(group: ChildGroup): void {
    groups.delete(group);
    if (group.pid !== undefined) reaper.remove(group.pid);
  }

  // A group is forgotten soon after it is gone, before its number can mean another one.
  function sweep(): void {
    for (const group of groups.keys()) if (!group.isAlive()) forget(group);
    if (groups.size > 0 || sweeper === undefined) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }

  return {
    get sandboxed() {
      return options.sandbox().available;
    },
    launch({ sessionId, command, cwd, roots, onOutput }) {
      const argv = shell.argv(command);
      const sandbox = options.sandbox();
      const group = new ChildGroup(sandbox.available ? sandbox.wrap(argv, { cwd, roots }) : argv, {
        cwd,
        environment: {
          ...options.environment(sessionId, command),
          [OWNER_VARIABLE]: `${run}.${sessionId}`,
        },
        onOutput,
        held: shell.waits,
      });
      groups.set(group, sessionId);
      launched.add(sessionId);
      if (group.pid !== undefined) reaper.add(group.pid);
      group.release();
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
      return group;
    },
    async stopSession(sessionId) {
      const own = [...groups].filter(([, owner]) => owner === sessionId).map(([group]) => group);
      await Promise.all(own.map((group) => group.kill(GRACE_MS)));
      if (launched.has(sessionId)) await killStrays(`${run}.${sessionId}`);
      sweep();
    },
    killAll() {
      for (const group of groups.keys()) group.killNow();
      if (launched.size > 0) killStraysNow(run);
      sweep();
    },
  };
}

type HostShell = {
  /** True if the command begins only when a line is read: what no reaper knows of must not outlive this process. */
  readonly waits: boolean;
  readonly argv: (command: string) => readonly string[];
};

/** Bash where there is one, else the POSIX shell. Error output is merged in the shell, which keeps the order exact. */
function hostShell(): HostShell {
  if (process.platform === 'win32')
    return {
      waits: false,
      argv: (command) => [process.env['ComSpec'] ?? 'cmd.exe', '/d', '/s', '/c', command],
    };
  const shell = ['/bin/bash', '/usr/bin/bash'].find((file) => existsSync(file)) ?? '/bin/sh';
  // The line comes by a descriptor of its own: Bash takes an input that is a socket for a remote shell's, and reads .bashrc.
  const script = 'read -r _ <&3 || exit; exec "$0" -c "$1" 2>&1 3<&-';
  return { waits: true, argv: (command) => [shell, '-c', script, shell, command] };
}
