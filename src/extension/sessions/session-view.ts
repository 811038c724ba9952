import type { ChatItem } from '../../protocol/chat.ts';
import type { ChatCompany } from '../../protocol/chat-company.ts';
import type { Gate } from '../approvals/gate.ts';
import type { GateStore } from '../approvals/gate-store.ts';
import type { Delegate, DelegateList } from '../delegates/delegate-list.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionRow } from './tree/row.ts';

/** What a session is doing, as lists show it. */
export type SessionState =
  | 'waiting'
  | 'stopping'
  | 'running'
  /** It can't be saved: nothing more is done in it. */
  | 'faulted'
  | 'failed'
  /** The agent process ended, or the window was closed, during its last turn. */
  | 'interrupted'
  /** Its host is not reached: what it does is not known. */
  | 'offline'
  | 'idle';

/**
 * What a session that is open here has besides its state, for its menu: a step that runs, messages that wait, a queue
 * that can be paused or resumed, a rollback that can be redone, a delegate that messages go to.
 */
export type SessionTrait = 'step' | 'waits' | 'queued' | 'paused' | 'redo' | 'talks';

/** A session as the tree shows it. */
export type SessionView = {
  readonly row: SessionRow;
  readonly state: SessionState;
  readonly unread: boolean;
  /** Those that this window was asked. */
  readonly gates: readonly Gate[];
  /** How many wait for an answer, also those that only other windows were asked. */
  readonly questions: number;
  /** The name of its host, where it is not the window's own. */
  readonly hostName?: string;
  /** Who else follows it, and that this window only reads it, where that is so. */
  readonly company?: ChatCompany;
  /** Why it can't be saved, where it can't. */
  readonly fault?: string;
  /** Left out where nothing is known. */
  readonly traits?: readonly SessionTrait[];
  /** In the order of their beginning, parents before their own; left out where there are none. */
  readonly delegates?: readonly Delegate[];
};

/** What a menu of the session can offer. A session that is not open here has no traits that anybody knows. */
export function sessionTraits(
  live:
    | (Pick<LiveSession, 'isRunning' | 'conversation' | 'waiting'> & {
        readonly delegates: { readonly list: Pick<DelegateList, 'active'> };
      })
    | null,
  canRedo: boolean,
): SessionTrait[] {
  if (!live) return [];
  const { pending, queue } = live.waiting;
  const queued = queue.items.length > 0;
  const found: Readonly<Record<SessionTrait, boolean>> = {
    step: live.isRunning && live.conversation.items().some(isRunningStep),
    waits: pending.length > 0 || queued,
    queued: queued && queue.paused === null,
    paused: queue.paused !== null,
    redo: canRedo,
    talks: live.delegates.list.active !== null,
  };
  return TRAITS.filter((trait) => found[trait]);
}

const TRAITS: readonly SessionTrait[] = ['step', 'waits', 'queued', 'paused', 'redo', 'talks'];

function isRunningStep(item: ChatItem): boolean {
  return item.kind === 'tool' && item.status === 'in_progress';
}

/** What the manifest's menus go by: the state, then the traits, each behind a semicolon. */
export function sessionContext({ state, traits = [] }: SessionView): string {
  return [`session.${state}`, ...traits].join(';');
}

/** A turn runs, the conversation is condensed, or a delegate goes on in the background: something that Stop ends. */
function isAtWork({ isRunning, durability, delegates }: LiveSession): boolean {
  return isRunning || durability.isCompacting || delegates.list.atWork.length > 0;
}

/** How many questions of a session wait: a window that controls it was asked them, any other has it from the list. */
export function openQuestions(row: SessionRow, live: LiveSession | null, asked: number): number {
  const isAsked = live?.isAttached === true && live.clients.role === 'host_owner';
  return isAsked ? asked : Math.max(asked, row.openGates);
}

/** All questions that wait, also those of no session. */
export function questionsIn(views: readonly SessionView[], gates: Pick<GateStore, 'all'>): number {
  const listed = new Set(views.map(({ row }) => row.sessionId));
  const others = gates.all().filter(({ sessionId }) => !listed.has(sessionId));
  return views.reduce((sum, { questions }) => sum + questions, others.length);
}

/** The state of a session from what the list says and, where this window follows it, what it knows itself. */
export function sessionState(
  row: SessionRow,
  live: LiveSession | null,
  questions: number,
): SessionState {
  if (live?.durability.fault) return 'faulted';
  if (live?.stopState.kind === 'stopping') return 'stopping';
  if (questions > 0) return 'waiting';
  if (live?.isAttached) return isAtWork(live) ? 'running' : (live.ending ?? 'idle');
  if (row.activePrompt) return 'running';
  return live?.ending ?? 'idle';
}
