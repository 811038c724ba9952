import { homedir } from 'node:os';
import { join } from 'node:path';
import { forgetCheckpoints, LateCheckpoints } from '../../checkpoint/late-checkpoints.ts';
import type { OpenJournal } from '../../journal/open-journal.ts';
import { createMcp } from '../../mcp/create-mcp.ts';
import type { RememberingPolicy } from '../../tools/policy/create-policy.ts';
import { createProcesses } from '../../tools/run/background-processes.ts';
import type { HostParts } from '../host-parts.ts';
import type { FileLog } from '../log/log.ts';
import { randomIds, sha256, systemClock } from '../node-ports.ts';
import { checkChange } from '../options.ts';
import { SessionEnvironments } from '../session-environments.ts';
import { LocalSessionHost } from '../session-host.ts';
import { Phases, SHUTDOWN_DEADLINES, type ShutdownReport } from '../shutdown/phases.ts';
import { EditorBridge } from './editor-bridge.ts';
import { LateTools } from './late-tools.ts';
import { ModelSettings } from './model-settings.ts';
import { SessionFeed } from './session-feed.ts';

/** The tools are loaded this long after the first session is there, while the person still writes the first prompt. */
const LOAD_TOOLS_AFTER_MS = 50;

/** A host with all its rooms, ready for doors. */
export type RunningHost = {
  readonly host: LocalSessionHost;
  readonly models: ModelSettings;
  readonly policy: RememberingPolicy;
  readonly editor: EditorBridge;
  readonly feed: SessionFeed;
  /**
   * Stops all sessions and their processes, flushes and lets go of the data folder, in bounded phases. Idempotent: all
   * callers get one report. Never rejects. Where `lock` is among the phases that were left behind, the store hangs in a
   * call of the system, and the folder is free when this process is gone.
   */
  close(): Promise<ShutdownReport>;
  /** Kills every process group that a session started; for the very end of this process. */
  killAll(): void;
};

/** What a host is opened on. */
export type HostOptions = {
  readonly journal: OpenJournal;
  readonly dataFolder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly defaultModel: string | null;
  readonly version: string;
  readonly log: FileLog;
  /** True for a host that another one follows: a turn at its question is left to that one. */
  readonly leavesQuestions?: boolean;
  /** Where it is to die; missing where nothing was asked for, and then nothing is different. */
  readonly crashing?: (parts: HostParts) => HostParts;
};

/** The rooms that sessions are made of. */
type Rooms = {
  readonly models: ModelSettings;
  readonly tools: LateTools;
  readonly mcp: ReturnType<typeof createMcp>;
  readonly environments: SessionEnvironments;
};

/** Puts the host's rooms together. */
export function openHost(options: HostOptions): RunningHost {
  const { journal, log, leavesQuestions = false } = options;
  const editor = new EditorBridge(randomIds, (sessionId) => host.clients.owners(sessionId)[0]);
  const rooms = openRooms(options, editor);
  const { models, tools, mcp } = rooms;
  const host: LocalSessionHost = openSessions(options, rooms);
  const feed = new SessionFeed(host, systemClock, log);
  const killAll = (): void => {
    tools.launcher.killAll();
    mcp.killAll();
  };
  const close = async (): Promise<ShutdownReport> => {
    const parts = { clock: systemClock, log, deadlines: SHUTDOWN_DEADLINES };
    const phases = new Phases(parts);
    const { timeouts } = await host.shutdown({ leavesQuestions });
    await phases.run('feeds', async () => feed.dispose());
    killAll();
    const cutAfter = SHUTDOWN_DEADLINES.journal;
    const closed = journal.close({ deadlineMs: cutAfter });
    if (!(await phases.run('journal', () => closed))) await phases.run('lock', () => closed);
    return { timeouts: [...timeouts, ...phases.timeouts] };
  };
  let closing: Promise<ShutdownReport> | null = null;
  return {
    host,
    models,
    policy: tools.policy,
    editor,
    feed,
    close: () => {
      closing ??= close();
      return closing;
    },
    killAll,
  };
}

function openRooms(options: HostOptions, editor: EditorBridge): Rooms {
  const { dataFolder, environment, defaultModel, version, log } = options;
  const environments = new SessionEnvironments(environment);
  const clock = systemClock;
  return {
    models: new ModelSettings({ environment, defaultModel, editor, clock, log }),
    tools: new LateTools({
      dataFolder,
      home: homedir(),
      environment: environments.minimum,
      environmentOf: (sessionId, command) => environments.ofCommand(sessionId, command),
      sandboxed: environment['PILOTHOUSE_SANDBOX'] !== 'off',
      log,
    }),
    mcp: createMcp({
      dataFolder,
      environment: (sessionId, program) => environments.ofProgram(sessionId, program),
      version,
      clock,
      ids: randomIds,
      log,
    }),
    environments,
  };
}

function openSessions(
  { journal, dataFolder, log, crashing }: HostOptions,
  { models, tools, mcp, environments }: Rooms,
): LocalSessionHost {
  const { launcher, policy } = tools;
  const clock = systemClock;
  const ids = randomIds;
  const folder = join(dataFolder, 'checkpoints');
  const environment = environments.minimum;
  const parts: HostParts = {
    deps: {
      journal,
      models: models.catalog,
      policy,
      clock,
      ids,
      log,
      digest: sha256,
      checkChange: (change) => checkChange(change, models.catalog),
    },
    factory: {
      processes: (sessionId, workspace) =>
        createProcesses({ sessionId, workspace: () => workspace, launcher, clock, ids }),
      externalTools: mcp.externalTools,
      checkpoints: (sessionId, workspace) =>
        new LateCheckpoints({ sessionId, workspace, folder, environment, clock, log }),
      builtinTools: tools,
      environments,
    },
    defaultModel: () => models.defaultModel(),
    forgetInLog: (sessionId) => log.forget(sessionId),
    forgetFiles: (sessionId) => forgetCheckpoints(folder, sessionId),
  };
  const host = new LocalSessionHost(crashing?.(parts) ?? parts);
  const first = host.onDidChangeSession(() => {
    first.dispose();
    setTimeout(() => void tools.ready(), LOAD_TOOLS_AFTER_MS).unref();
  });
  return host;
}
