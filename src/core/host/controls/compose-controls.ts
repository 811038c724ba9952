import type { SessionDeps } from '../../session/deps.ts';
import { branchOf } from '../../session/history/branch.ts';
import type { Timeline } from '../../session/history/timeline.ts';
import { HOST_STREAM } from '../../session/ports.ts';
import type { EnvironmentPolicy, SessionId } from '../../session/words.ts';
import type { Client, LiveSession } from '../api.ts';
import { unknownSession } from '../errors.ts';
import { foldSession, storedNextTurns } from '../fold-session.ts';
import type { HostedSession } from '../hosted-session.ts';
import { commandState } from './command-state.ts';
import { DurableDesk } from './durable-controls.ts';
import { StagedFileControls } from './file-controls.ts';
import { type ForkSource, SessionForks } from './history/fork.ts';
import { HistoryDesk } from './history/history-controls.ts';
import type { HistorySessions } from './history/history-session.ts';
import { ComposedControls, ToldReceipts } from './host-controls.ts';
import { HostedDurable } from './hosted-durable.ts';
import { InjectDesk } from './inject-controls.ts';
import { OptionDesk } from './option-controls.ts';
import { QueueDesk } from './queue-controls.ts';
import { ReceiptList } from './receipts/receipt-list.ts';
import { JournaledReceipts } from './receipts/receipt-sink.ts';
import { ReceiptWriter } from './receipts/receipted.ts';
import { noSuchSession, type SessionsAtHand } from './sessions-at-hand.ts';
import { storedLoops } from './stored-loops.ts';

/** The host as its controls see it. */
export type ControlSurroundings = Omit<HistorySessions, 'live'> & {
  readonly deps: SessionDeps;
  readonly live: (sessionId: string) => HostedSession | undefined;
  /** Brings a stored session to life for a client. */
  readonly open: (sessionId: SessionId, client: Client) => Promise<LiveSession>;
  /** Throws `host.bad_environment`. */
  readonly checkEnvironment: (policy: EnvironmentPolicy) => void;
};

/** All controls of a host, and the one who writes the receipts of those that are the host's own. */
export function composeControls(around: ControlSurroundings): {
  readonly controls: ComposedControls;
  readonly receipts: ReceiptWriter;
} {
  const { deps, live } = around;
  const told = new ToldReceipts(new JournaledReceipts(live, deps.journal));
  const receipts = new ReceiptWriter(told, deps.ids);
  const isStored = async (sessionId: string): Promise<boolean> =>
    (await deps.journal.session(sessionId as SessionId)) !== null;
  const sessions: SessionsAtHand = {
    live: (sessionId) => live(sessionId)?.session,
    delegates: (sessionId) => live(sessionId)?.delegates.living() ?? [],
    isStored,
  };
  const controls = new ComposedControls({
    injects: new InjectDesk(sessions, receipts, deps.ids),
    queue: new QueueDesk(sessions, receipts, async (sessionId) =>
      (await isStored(sessionId)) ? storedNextTurns(deps.journal, sessionId as SessionId) : null,
    ),
    options: new OptionDesk(live, receipts),
    history: historyDesk(around, receipts),
    files: new StagedFileControls({ receipts, find: (sessionId) => live(sessionId)?.staged }),
    durable: durableDesk(around, isStored, receipts),
    receipts,
    list: new ReceiptList({
      isStored,
      readControl: (sessionId, range) =>
        deps.journal.readControl((sessionId ?? HOST_STREAM) as SessionId, range),
    }),
    told,
  });
  return { controls, receipts };
}

function durableDesk(
  { deps, live }: ControlSurroundings,
  isStored: (sessionId: string) => Promise<boolean>,
  receipts: ReceiptWriter,
): DurableDesk {
  const { journal } = deps;
  return new DurableDesk({
    live: (sessionId) => {
      const hosted = live(sessionId);
      return hosted && new HostedDurable(hosted);
    },
    isStored,
    storedLoops: (sessionId) => storedLoops(journal, sessionId),
    commandIn: (loopId, commandId) =>
      commandState(journal, loopId as string as SessionId, commandId),
    receipts,
  });
}

function historyDesk(around: ControlSurroundings, receipts: ReceiptWriter): HistoryDesk {
  const { deps, live, open, checkEnvironment } = around;
  const { journal, ids, clock } = deps;
  const folded = async (sessionId: SessionId) =>
    (await journal.session(sessionId)) === null ? null : foldSession(journal, sessionId);
  const timeline = async (sessionId: string): Promise<Timeline> => {
    const here = live(sessionId)?.session.timeline;
    const known = here ?? (await folded(sessionId as SessionId))?.state.timeline;
    if (known === undefined) throw unknownSession(sessionId);
    return known;
  };
  const source = async (sessionId: SessionId): Promise<ForkSource> => {
    const here = live(sessionId)?.session;
    if (here !== undefined)
      return {
        branch: branchOf(here.timeline.moves, here.tip.lastEventId),
        marks: here.conversation.marks,
        config: here.config,
      };
    const stored = await folded(sessionId);
    if (stored === null) throw noSuchSession(sessionId);
    const { state, conversation } = stored;
    return { branch: state.timeline.branch, marks: conversation.marks, config: state.config };
  };
  return new HistoryDesk({
    sessions: {
      live: (sessionId) => live(sessionId)?.session,
      using: around.using,
      nextOrder: around.nextOrder,
    },
    receipts,
    forks: new SessionForks({
      journal,
      newId: () => ids.unique(),
      now: () => clock.now(),
      source,
      checkEnvironment,
      open,
    }),
    timeline,
  });
}
