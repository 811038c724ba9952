import * as l10n from '@vscode/l10n';
import type { ChatSendMode, ChatStatus } from '../../protocol/chat.ts';
import { folderInUseWords } from '../core/offline-words.ts';
import { offlineWords, refusedWords } from '../hosts/host-words.ts';
import type { Host } from '../hosts/hosts.ts';
import { companyOf } from '../sessions/clients/company.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { currentValue } from '../sessions/session-facts.ts';
import { waitingStatus } from './waiting-status.ts';

/** Whether sessions can run in this window at all. */
export type Availability = 'ok' | 'untrusted' | 'no_folder';

/** What the header and composer are made from. */
export type StatusInput = {
  readonly availability: Availability;
  /** The host of the session that is shown; the window's own while there is none. */
  readonly host: Pick<Host, 'added'> & { readonly agent: Pick<Host['agent'], 'state'> };
  readonly session: LiveSession | null;
  /** True while the session to show is being opened. */
  readonly opening: boolean;
  readonly openGates: number;
  readonly title: string;
  /** What Enter does while a turn runs. */
  readonly runningSend: ChatSendMode;
  readonly staged: ChatStatus['staged'];
  readonly canRedo: boolean;
};

const REHEARSAL_PREFIX = 'rehearsal/';

/** What the chat shows above and below the conversation. */
export function chatStatus(input: StatusInput): ChatStatus {
  const { session } = input;
  const reason = offlineReason(input);
  return {
    activity: activityOf(input),
    ...(input.host.added ? { hostName: input.host.added.name } : {}),
    ...(reason === null ? {} : { offlineReason: reason }),
    ...(session ? sessionPart(session, input.title) : { ...NO_SESSION, title: input.title }),
    runningSend: input.runningSend,
    staged: session ? input.staged : null,
    canRedo: session !== null && input.canRedo,
  };
}

type SessionPart = Omit<
  ChatStatus,
  'activity' | 'offlineReason' | 'hostName' | 'runningSend' | 'staged' | 'canRedo'
>;

const NO_SESSION: SessionPart = {
  sessionId: null,
  turnId: null,
  title: '',
  cwd: '',
  options: [],
  commands: [],
  usage: null,
  pending: [],
  nextTurns: { paused: null, items: [] },
  queued: [],
  rehearsal: false,
};

function sessionPart(session: LiveSession, listedTitle: string): SessionPart {
  const { facts, durability, delegates } = session;
  const { active } = delegates.list;
  const delegatesAtWork = delegates.list.atWork;
  const company = companyOf(session.clients);
  return {
    sessionId: session.sessionId,
    turnId: session.turnId,
    title: facts.title || listedTitle,
    cwd: session.cwd,
    options: facts.options,
    commands: slashCommands(facts.commands),
    usage: facts.usage,
    ...waitingStatus(session.waiting),
    queued: session.queued.map(({ commandId, text }) => ({ id: commandId, text })),
    rehearsal: isRehearsal(session),
    ...(durability.fault ? { fault: durability.fault } : {}),
    ...(company ? { company } : {}),
    ...(durability.isCompacting ? { compacting: true } : {}),
    ...(active ? { talksTo: { loopId: active.loopId, name: active.name } } : {}),
    ...(delegatesAtWork.length > 0 ? { delegatesAtWork } : {}),
  };
}

/** The name of the command that the chat carries out itself. */
const COMPACT_COMMAND = 'compact';

/** What `/` offers: the agent's own commands, and ours in front unless the agent has one of that name. */
function slashCommands(commands: LiveSession['facts']['commands']): ChatStatus['commands'] {
  const own = {
    name: COMPACT_COMMAND,
    description: l10n.t('Condense what the agent reads of the conversation'),
  };
  const agents = commands.map(({ name, description, input }) => ({
    name,
    description,
    ...(input ? { hint: input.hint } : {}),
  }));
  return agents.some(({ name }) => name === COMPACT_COMMAND) ? agents : [own, ...agents];
}

/** True if the message is nothing but our command, and the agent has none of that name. */
export function asksToCompact(session: LiveSession, text: string): boolean {
  const isOurs = !session.facts.commands.some(({ name }) => name === COMPACT_COMMAND);
  return isOurs && text.trim() === `/${COMPACT_COMMAND}`;
}

/** True if the session's model is the built-in one that needs no network. */
export function isRehearsal(session: LiveSession): boolean {
  return currentValue(session, 'model')?.startsWith(REHEARSAL_PREFIX) ?? false;
}

function activityOf(input: StatusInput): ChatStatus['activity'] {
  const { session, availability } = input;
  const agent = input.host.agent.state;
  if (availability === 'untrusted') return 'untrusted';
  if (agent.kind === 'failed' || agent.kind === 'restarting') return 'offline';
  if (input.opening || agent.kind === 'starting') return 'starting';
  if (!session) return availability === 'no_folder' ? 'no_folder' : 'none';
  if (session.stopState.kind === 'stopping') return 'stopping';
  if (input.openGates > 0) return 'waiting';
  if (session.isRunning || session.durability.isCompacting) return 'running';
  return session.isAttached || agent.kind === 'stopped' ? 'idle' : 'starting';
}

function offlineReason({ host }: StatusInput): string | null {
  const agent = host.agent.state;
  if (agent.kind !== 'failed' && agent.kind !== 'restarting') return null;
  if (host.added)
    return agent.kind === 'failed' && agent.signedOut === true
      ? refusedWords(host.added.name)
      : offlineWords(host.added.name, agent.reason);
  const inUse = folderInUseWords(agent);
  if (inUse !== null) return inUse;
  if (agent.kind === 'failed')
    return l10n.t(
      'The session host ended again and again ({0}). It was not started anew.',
      agent.reason,
    );
  return l10n.t('The session host ended ({0}). It is being started again.', agent.reason);
}
