import type { Clock } from '../../../base/clock.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { CodedError } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Processes, ProcessInfo, Workspace } from '../../session/tool.ts';
import type { ProcessId, SessionId } from '../../session/words.ts';
import type { ChildEnd, ChildGroup } from './child-group.ts';
import { GRACE_MS, type Launcher } from './launcher.ts';
import { OutputRing } from './output-ring.ts';

/** Too many background processes run already. */
export class TooManyProcesses extends CodedError<'process.too_many'> {}

/** The background processes of a session, and their owner's handles. */
export interface SessionProcesses extends Processes {
  /** Fires once for each process that ended or was stopped. */
  readonly onDidEnd: Event<ProcessInfo>;
  /** Ends every process group the session started and resolves when they are gone; new ones may be started after. */
  stopAll(): Promise<void>;
  /** `stopAll`, and nothing can be started any more. */
  dispose(): Promise<void>;
}

/** Output kept of each process, in bytes. */
const KEPT_BYTES = 1024 * 1024;
const MAX_RUNNING = 16;
/** Ended ones are remembered, with their output, up to this many. */
const MAX_REMEMBERED = 32;

type Entry = {
  info: ProcessInfo;
  readonly group: ChildGroup;
  readonly ring: OutputRing;
  /** Resolves when `info` tells the end. */
  ended: Promise<void>;
};

/** Makes the background processes of one session. */
export function createProcesses(options: {
  readonly sessionId: SessionId;
  /** Where the processes may write, if they are in a sandbox. */
  readonly workspace: () => Workspace;
  readonly launcher: Launcher;
  readonly clock: Clock;
  readonly ids: Ids;
}): SessionProcesses {
  return new BackgroundProcesses(options);
}

class BackgroundProcesses implements SessionProcesses {
  readonly #options: Parameters<typeof createProcesses>[0];
  readonly #entries = new Map<ProcessId, Entry>();
  readonly #didEnd = new Emitter<ProcessInfo>();
  #disposed = false;

  constructor(options: Parameters<typeof createProcesses>[0]) {
    this.#options = options;
  }

  get onDidEnd(): Event<ProcessInfo> {
    return this.#didEnd.event;
  }

  async start(command: string, cwd: string): Promise<ProcessInfo> {
    const running = this.list().filter(({ state }) => state === 'running').length;
    if (this.#disposed || running >= MAX_RUNNING)
      throw new TooManyProcesses(
        'process.too_many',
        this.#disposed
          ? 'The session is closed.'
          : `${running} background processes run already. Stop one with process_stop first.`,
      );
    const ring = new OutputRing(KEPT_BYTES);
    const group = this.#options.launcher.launch({
      sessionId: this.#options.sessionId,
      command,
      cwd,
      roots: this.#options.workspace().roots,
      onOutput: (bytes) => ring.write(bytes),
    });
    const info: ProcessInfo = {
      processId: this.#options.ids.unique() as ProcessId,
      command,
      startedAt: this.#options.clock.now(),
      state: 'running',
      exitCode: null,
      signal: null,
    };
    // A program that can't be started has no pid, and its error comes at once.
    if (group.pid === undefined) await group.exited;
    const entry: Entry = { info, group, ring, ended: Promise.resolve() };
    entry.ended = this.#watch(entry);
    this.#entries.set(info.processId, entry);
    this.#forgetOld();
    return info;
  }

  list(): readonly ProcessInfo[] {
    return [...this.#entries.values()].map(({ info }) => info);
  }

  output(
    processId: ProcessId,
    from: number,
    maxBytes: number,
  ): { text: string; next: number } | null {
    return this.#entries.get(processId)?.ring.read(from, maxBytes) ?? null;
  }

  async stop(processId: ProcessId): Promise<ProcessInfo | null> {
    const entry = this.#entries.get(processId);
    if (entry === undefined) return null;
    if (entry.info.state === 'running') {
      entry.info = { ...entry.info, state: 'stopped' };
      await entry.group.kill(GRACE_MS);
    }
    await entry.ended;
    return entry.info;
  }

  async stopAll(): Promise<void> {
    for (const entry of this.#entries.values())
      if (entry.info.state === 'running') entry.info = { ...entry.info, state: 'stopped' };
    await this.#options.launcher.stopSession(this.#options.sessionId);
    await Promise.all([...this.#entries.values()].map(({ ended }) => ended));
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.stopAll();
    this.#didEnd.dispose();
  }

  async #watch(entry: Entry): Promise<void> {
    const end = await entry.group.ended().catch((): ChildEnd => ({ exitCode: null, signal: null }));
    entry.ring.end();
    const state = entry.info.state === 'stopped' ? 'stopped' : 'exited';
    entry.info = { ...entry.info, ...end, state };
    this.#didEnd.fire(entry.info);
  }

  #forgetOld(): void {
    for (const [processId, { info }] of this.#entries) {
      if (this.#entries.size <= MAX_REMEMBERED) return;
      if (info.state !== 'running') this.#entries.delete(processId);
    }
  }
}
