import { messageOf } from '../../../../base/errors.ts';
import { delegatePrompt } from '../../../harness/native/system-prompt.ts';
import type { SessionDeps, SessionResources } from '../../../session/deps.ts';
import { Session } from '../../../session/session.ts';
import { HOST } from '../../../session/state/gates.ts';
import type { Delegates } from '../../../session/tool.ts';
import type { CommandId } from '../../../session/words.ts';
import { unknownSession } from '../../errors.ts';
import { foldSession } from '../../fold-session.ts';
import type { ResourceFactory } from '../../session-resources.ts';
import { NarrowPolicy } from '../narrow/narrow-policy.ts';
import type { LiveLoop, LoopNode } from './loop-node.ts';
import { type RootLoop, sharedResources } from './root-loop.ts';

/** What a delegate's loop is made of. */
export type ChildParts = {
  readonly deps: SessionDeps;
  readonly factory: ResourceFactory;
  readonly root: RootLoop;
  /** Its own delegates. */
  readonly delegates: Delegates;
};

/**
 * Brings the loop of a delegate to life from its streams: an engine session of its own with processes of its own, and
 * with what it shares with the session that it works for. What a crash left open in it is closed.
 */
export async function openChild(parts: ChildParts, node: LoopNode): Promise<LiveLoop> {
  const { deps, factory, root } = parts;
  const { sessionId } = node;
  const row = await deps.journal.session(sessionId);
  if (row === null) throw unknownSession(sessionId);
  const folded = await foldSession(deps.journal, sessionId);
  const environment = factory.environments.open(sessionId, root.environmentPolicy);
  const processes = factory.processes(sessionId, root.resources.workspace);
  const stopProcesses = async (): Promise<void> => {
    await Promise.all([processes.stopAll(), parts.delegates.stopAll()]);
  };
  const resources: SessionResources = {
    ...sharedResources(root, node),
    processes: {
      start: async (command, cwd) => {
        const info = await processes.start(command, cwd);
        await session.record({ type: 'process_started', processId: info.processId, command });
        return info;
      },
      list: () => processes.list(),
      output: (processId, from, maxBytes) => processes.output(processId, from, maxBytes),
      stop: (processId) => processes.stop(processId),
      stopAll: stopProcesses,
    },
    delegates: parts.delegates,
    system: delegatePrompt(root.resources.workspace, node.name),
    // No person writes to it: a slash is text.
    expand: () => null,
  };
  const policy = new NarrowPolicy(deps.policy, () =>
    node.superiors.map(({ sessionId: id, mode }) => ({ sessionId: id, mode })),
  );
  const tip = { lastEventId: row.lastEventId, prefixHash: row.prefixHash };
  const session: Session = new Session(sessionId, { ...deps, policy }, resources, tip, folded);
  processes.onDidEnd((info) => {
    session.entries.notifyProcess(info).catch((failure: unknown) =>
      deps.log.warn('The end of a background process could not be recorded', {
        sessionId,
        error: messageOf(failure),
      }),
    );
  });
  await session.restored();
  await closeLeftOvers(session);
  return {
    session,
    hasProcesses: () => processes.list().some(({ state }) => state === 'running'),
    stopProcesses: () => processes.stopAll(),
    dispose: async () => {
      await processes.dispose();
      environment.dispose();
    },
  };
}

/** Nobody goes on with what a crash left of a delegate: its request is handed back as interrupted. */
async function closeLeftOvers(session: Session): Promise<void> {
  if (session.isParked) {
    const why = 'Interrupted: the process ended while it waited for an answer';
    const stop = (): boolean =>
      session.cancelBefore(1, { kind: 'cancelled', by: HOST.clientId, why });
    await session.exclusively(async () => undefined, stop);
  }
  const origin = { actor: HOST, agency: 'machine' } as const;
  for (const { itemId } of session.entries.nextTurns().items)
    await session.entries.withdraw(String(itemId) as CommandId, origin);
  if (session.entries.nextTurns().paused !== null)
    await session.entries.changeQueue({ kind: 'resume' }, HOST);
}
