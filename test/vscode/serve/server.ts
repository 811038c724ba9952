import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { VsCode } from '../install/vscode.ts';
import { endWithUs, type Owned } from './end-with-us.ts';
import { descendants, type Process, signal, waitForExit, withEnvironment } from './processes.ts';
import { endSessionHosts, isSessionHost, ofSessionHosts } from './session-hosts.ts';

/** How to start a VS Code server. Folders are absolute. */
export interface ServerOptions {
  readonly vsCode: VsCode;
  readonly userDataDir: string;
  readonly extensionsDir: string;
  readonly serverDataDir: string;
  /** false: folders open in Restricted Mode until the person trusts them. */
  readonly trust: boolean;
  /** Lets the URL's payload load extensions and run a suite. */
  readonly development: boolean;
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly defaultFolder?: string;
  /** Names all that is started from here; servers that follow each other on the same folders share it. */
  readonly run?: string;
  /** Added to our own environment, for the server and the extension host. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each piece of output. */
  readonly onOutput?: (text: string) => void;
}

/** How a server is ended. */
export type StopOptions = { readonly grace?: number; readonly keepHosts?: boolean };

/** A running VS Code server. */
export interface Server {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly pid: number;
  /** Output so far. */
  log(): string;
  /** Its extension hosts, by their main processes. */
  extensionHosts(): Process[];
  /** Everything started from here that is not VS Code's own, orphans included. */
  extensionHostChildren(): Process[];
  /** Resolves when the server process has ended, with its exit code. */
  readonly ended: Promise<number | null>;
  /** The processes that sessions live in: they outlive VS Code. */
  sessionHosts(): Process[];
  /**
   * Ends the server and waits for all it started, but for helpers of VS Code's own; kills what is left after `grace` ms
   * (10,000). Session hosts are ended as a person ends them, unless they are to be kept.
   */
  stop(options?: StopOptions): Promise<readonly Process[]>;
}

const marker = 'PILOTHOUSE_TEST_SERVER';

/** The server did not start; the text says why. */
export class ServerError extends Error {
  readonly code: 'port_taken' | 'did_not_start';

  constructor(code: ServerError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

function serverArguments(options: ServerOptions): string[] {
  return [
    '--import',
    new URL('./watchdog.mjs', import.meta.url).href,
    join(options.vsCode.root, 'out/server-main.js'),
    '--host',
    options.host ?? '127.0.0.1',
    '--port',
    String(options.port ?? 0),
    '--without-connection-token',
    '--accept-server-license-terms',
    '--disable-telemetry',
    '--disable-experiments',
    ...['--user-data-dir', options.userDataDir],
    ...['--extensions-dir', options.extensionsDir],
    ...['--server-data-dir', options.serverDataDir],
    ...(options.development ? ['--enable-smoke-test-driver'] : []),
    ...(options.trust ? ['--disable-workspace-trust'] : []),
    ...(options.defaultFolder ? ['--default-folder', options.defaultFolder] : []),
  ];
}

/** Ours without what an outer VS Code or test runner put there. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(VSCODE_|ELECTRON_|VITEST|NODE_OPTIONS$|NODE_ENV$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

function listening(
  child: ChildProcess,
  options: ServerOptions,
  log: () => string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      clearTimeout(timer);
      child.stdout?.off('data', look);
      child.stderr?.off('data', look);
      end();
    };
    const fail = (why: string) =>
      settle(() => reject(new ServerError('did_not_start', `${why}\n${log()}`)));
    const timer = setTimeout(() => fail('VS Code did not listen within 60 s.'), 60_000);
    const look = () => {
      const port = /Extension host agent listening on (\d+)/.exec(log())?.[1];
      if (port !== undefined) settle(() => resolve(Number(port)));
      else if (/Error: listen EADDRINUSE/.test(log())) {
        const taken = `Port ${options.port} is taken by another program.`;
        settle(() => reject(new ServerError('port_taken', taken)));
      } else if (/^\w*Error: .+$|\] Error: .+$/m.test(log())) {
        fail(`VS Code could not listen on ${options.host}.`);
      }
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code) => fail(`VS Code ended with ${code} while starting.`));
  });
}

function without(all: readonly Process[], others: readonly Process[]): Process[] {
  const pids = new Set(others.map(({ pid }) => pid));
  return all.filter(({ pid }) => !pids.has(pid));
}

class RunningServer implements Server {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<number | null>;
  readonly log: () => string;
  readonly #run: string;
  readonly #root: string;
  readonly #owned: Owned;

  constructor(
    child: ChildProcess,
    url: string,
    of: { root: string; run: string },
    log: () => string,
    owned: Owned,
  ) {
    this.url = url;
    this.pid = child.pid ?? 0;
    this.log = log;
    this.#run = of.run;
    this.#root = of.root;
    this.#owned = owned;
    this.ended = new Promise((resolve) => {
      if (child.exitCode !== null) resolve(child.exitCode);
      else child.on('exit', resolve);
    });
  }

  #everything(): Process[] {
    return everything(this.pid, this.#run);
  }

  extensionHosts(): Process[] {
    return this.#everything().filter(({ command }) => command.includes('--type=extensionHost'));
  }

  extensionHostChildren(): Process[] {
    return this.#everything().filter(({ command }) => !command.includes(this.#root));
  }

  sessionHosts(): Process[] {
    return this.#everything().filter(isSessionHost);
  }

  #allButHosts(): Process[] {
    const all = this.#everything();
    return without(all, ofSessionHosts(all));
  }

  #isHelper({ command }: Process): boolean {
    return command.includes(this.#root) && /--type=(fileWatcher|agentHost|ptyHost)\b/.test(command);
  }

  async stop({ grace = 10_000, keepHosts = false }: StopOptions = {}): Promise<readonly Process[]> {
    const known = this.#allButHosts();
    const helpers = known.filter((one) => this.#isHelper(one)).map(({ pid }) => pid);
    const awaited = known.map(({ pid }) => pid).filter((pid) => !helpers.includes(pid));
    signal(this.pid, 'SIGTERM');
    await waitForExit(() => [this.pid, ...awaited], grace);
    // They look for the server every five seconds only, and do nothing without it.
    for (const pid of helpers) signal(pid, 'SIGKILL');
    await waitForExit(() => helpers, 5000);
    const killed = keepHosts ? [] : await endSessionHosts(this.sessionHosts());
    const left = [...this.#allButHosts(), ...known].filter(
      ({ pid }, index, all) => all.findIndex((other) => other.pid === pid) === index,
    );
    const alive = await waitForExit(() => left.map(({ pid }) => pid), 0);
    for (const pid of alive) signal(pid, 'SIGKILL');
    await waitForExit(() => alive, 5000);
    this.#owned.dispose();
    return [...killed, ...left.filter(({ pid }) => alive.includes(pid))];
  }
}

function everything(pid: number, run: string): Process[] {
  const below = descendants(pid);
  return [...below, ...without(withEnvironment(marker, run), below)];
}

/** An address that a browser on this machine can open. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Starts a VS Code server in a process group of its own and waits until it listens. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const run = options.run ?? randomUUID();
  const child = spawn(process.execPath, serverArguments(options), {
    cwd: options.userDataDir,
    detached: true,
    env: { ...cleanEnvironment(), ...options.env, [marker]: run },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid;
  const owned = endWithUs(() => {
    if (pid === undefined) return;
    for (const other of everything(pid, run)) signal(other.pid, 'SIGKILL');
    signal(-pid, 'SIGKILL');
  });
  let log = '';
  const keep = (text: string) => {
    log += text;
    options.onOutput?.(text);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  try {
    const port = await listening(child, options, () => log);
    const host = hostInUrl(options.host ?? '127.0.0.1');
    return new RunningServer(
      child,
      `http://${host}:${port}`,
      { root: options.vsCode.root, run },
      () => log,
      owned,
    );
  } catch (error) {
    if (pid !== undefined) signal(-pid, 'SIGKILL');
    owned.dispose();
    throw error;
  }
}
