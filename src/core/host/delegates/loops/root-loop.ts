import type { SessionResources } from '../../../session/deps.ts';
import type { Session } from '../../../session/session.ts';
import type { Staging } from '../../../session/tool.ts';
import type { EnvironmentPolicy } from '../../../session/words.ts';
import type { LoopNode } from './loop-node.ts';

/** What delegates share with the session they work for. */
export type RootLoop = {
  readonly session: Session;
  readonly resources: SessionResources;
  readonly environmentPolicy: EnvironmentPolicy;
};

/**
 * The session's resources as a delegate gets them: the same folder, files, staged files, checkpoints and tools, MCP
 * servers included. What it changes counts as done by the root loop's call that it works for, so that a rollback or an
 * undo of that call takes it back.
 */
export function sharedResources(
  { session, resources }: RootLoop,
  node: LoopNode,
): Pick<SessionResources, 'workspace' | 'files' | 'checkpoints' | 'tools' | 'prepareTurn'> {
  const { workspace, files, checkpoints, tools, prepareTurn } = resources;
  const callOfRoot = () => node.top.newest?.toolCallId ?? null;
  return {
    workspace,
    files:
      files.staging === undefined
        ? files
        : { ...files, staging: stagingFor(files.staging, callOfRoot) },
    tools,
    ...(prepareTurn === undefined ? {} : { prepareTurn }),
    ...(checkpoints === undefined
      ? {}
      : {
          checkpoints: {
            beforeEffect: async ({ paths }, signal) => {
              const turnId = session.activeTurn;
              const toolCallId = callOfRoot();
              // Between turns of the root loop the folder changes as it does by a person's hand.
              if (turnId === null || toolCallId === null) return null;
              return checkpoints.beforeEffect({ turnId, toolCallId, paths }, signal);
            },
            endTurn: async () => null,
            recoverTurn: async () => null,
            recover: async () => undefined,
            keep: () => checkpoints.keep(),
            settled: () => checkpoints.settled(),
            plan: (target) => checkpoints.plan(target),
            restore: (target, overwrite) => checkpoints.restore(target, overwrite),
            read: (target, path, side) => checkpoints.read(target, path, side),
          },
        }),
  };
}

function stagingFor(
  staging: Staging,
  callOfRoot: () => Parameters<Staging['stage']>[0]['toolCallId'] | null,
): Staging {
  return {
    staged: (path) => staging.staged(path),
    paths: () => staging.paths(),
    stages: (path) => staging.stages(path),
    stage: (file, base) =>
      staging.stage({ ...file, toolCallId: callOfRoot() ?? file.toolCallId }, base),
  };
}
