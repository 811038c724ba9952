import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const script = fileURLToPath(new URL('./child.ts', import.meta.url));

export type Child = {
  readonly process: ChildProcess;
  /** Everything it said so far. */
  readonly said: Record<string, unknown>[];
  /** The next line that it says. */
  next(): Promise<Record<string, unknown>>;
  send(text: string): void;
  /** Resolves when it is gone and its output is read. */
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/** The user that owns nothing, for a process that must not write where root could. */
const NOBODY = 65_534;

/**
 * Starts `child.ts`; it is killed when the test is over. `maxFileKiB`: no file may grow past it, until `prlimit` takes
 * the limit away. `asNobody`: as another user, where this one may do that.
 */
export function startChild(
  what: string,
  dataFolder: string,
  options: { readonly maxFileKiB?: number; readonly asNobody?: boolean } = {},
): Child {
  const command = [process.execPath, script, what, dataFolder];
  const limited = [
    'bash',
    '-c',
    `ulimit -S -f ${options.maxFileKiB}; exec "$@"`,
    'bash',
    ...command,
  ];
  const [program = '', ...args] = options.maxFileKiB === undefined ? command : limited;
  const nobody = options.asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], ...nobody });
  const said: Record<string, unknown>[] = [];
  const waiting: ((line: Record<string, unknown>) => void)[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  let taken = 0;
  lines.on('line', (line) => {
    said.push(JSON.parse(line) as Record<string, unknown>);
    const next = waiting.shift();
    if (next !== undefined) {
      next(said[taken] ?? {});
      taken += 1;
    }
  });
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  onTestFinished(() => kill());
  return {
    process: child,
    said,
    kill,
    send: (text) => child.stdin.write(text),
    next: () => {
      const line = said[taken];
      if (line !== undefined) {
        taken += 1;
        return Promise.resolve(line);
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
