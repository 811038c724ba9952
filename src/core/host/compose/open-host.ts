import { homedir } from 'node:os';
import type { OpenJournal } from '../../journal/open-journal.ts';
import { createMcp } from '../../mcp/create-mcp.ts';
import { createTools } from '../../tools/create-tools.ts';
import { createPolicy, type RememberingPolicy } from '../../tools/policy/create-policy.ts';
import { createPolicyStore } from '../../tools/policy/policy-store.ts';
import { createProtectedPaths } from '../../tools/protected-paths.ts';
import { createProcesses } from '../../tools/run/background-processes.ts';
import { childEnvironment } from '../../tools/run/child-environment.ts';
import { createLauncher, type Launcher } from '../../tools/run/launcher.ts';
import { probeSandbox } from '../../tools/run/sandbox.ts';
import type { FileLog } from '../log.ts';
import { randomIds, sha256, systemClock } from '../node-ports.ts';
import { LocalSessionHost } from '../session-host.ts';
import { EditorBridge } from './editor-bridge.ts';
import { ModelSettings } from './model-settings.ts';
import { SessionFeed } from './session-feed.ts';

/** A host with all its rooms, ready for doors. */
export type RunningHost = {
  readonly host: LocalSessionHost;
  readonly models: ModelSettings;
  readonly policy: RememberingPolicy;
  readonly editor: EditorBridge;
  readonly feed: SessionFeed;
  /** Stops all sessions and their processes, flushes and lets go of the data folder. Idempotent, bounded. */
  close(): Promise<void>;
  /** Kills every process group that a session started; for the very end of this process. */
  killAll(): void;
};

/** Puts the host's rooms together. */
export async function openHost(options: {
  readonly journal: OpenJournal;
  readonly dataFolder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly defaultModel: string | null;
  readonly version: string;
  readonly log: FileLog;
}): Promise<RunningHost> {
  const { journal, dataFolder, environment, log } = options;
  const home = homedir();
  const editor = new EditorBridge(randomIds);
  const models = new ModelSettings({
    environment,
    defaultModel: options.defaultModel,
    editor,
    clock: systemClock,
    log,
  });
  const protectedPaths = createProtectedPaths({ dataFolder, home });
  const policy = createPolicy({
    store: createPolicyStore({ dataFolder, log }),
    protectedPaths,
    home,
  });
  const cleaned = childEnvironment(environment);
  const launcher = await openLauncher(cleaned, home, dataFolder, environment);
  const mcp = createMcp({
    dataFolder,
    environment: cleaned,
    version: options.version,
    clock: systemClock,
    ids: randomIds,
    log,
  });
  const killAll = (): void => {
    launcher.killAll();
    mcp.killAll();
  };
  const host = new LocalSessionHost({
    deps: {
      journal,
      models: models.catalog,
      policy,
      clock: systemClock,
      ids: randomIds,
      log,
      digest: sha256,
    },
    factory: {
      processes: (sessionId, workspace) =>
        createProcesses({
          sessionId,
          workspace: () => workspace,
          launcher,
          clock: systemClock,
          ids: randomIds,
        }),
      externalTools: mcp.externalTools,
      builtinTools: createTools({ home, protectedPaths, launcher, environment: cleaned }),
    },
    defaultModel: () => models.defaultModel(),
    forgetInLog: (sessionId) => log.forget(sessionId),
  });
  const feed = new SessionFeed(host, systemClock, log);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    feed.dispose();
    await host.shutdown();
    killAll();
    await journal.close();
  };
  return {
    host,
    models,
    policy,
    editor,
    feed,
    close: () => {
      closing ??= close();
      return closing;
    },
    killAll,
  };
}

async function openLauncher(
  cleaned: NodeJS.ProcessEnv,
  home: string,
  dataFolder: string,
  environment: NodeJS.ProcessEnv,
): Promise<Launcher> {
  const sandbox = await probeSandbox({
    enabled: environment['PILOTHOUSE_SANDBOX'] !== 'off',
    environment: cleaned,
    home,
    masked: [dataFolder],
  });
  return createLauncher({ environment: cleaned, sandbox });
}
