import { canonicalJson } from '../../../../base/canonical-json.ts';
import type { Actor } from '../../../../protocol/controls.ts';
import { ControlRefused } from '../../../session/control/refusal.ts';
import type { HistoryEvent, Stored } from '../../../session/events.ts';
import { type Branch, between } from '../../../session/history/branch.ts';
import type { Cut, MessageMarks } from '../../../session/history/message-marks.ts';
import { HOST_STREAM, type Journal, type NewRecord } from '../../../session/ports.ts';
import { forkedTitle } from '../../../session/state/title.ts';
import type { EnvironmentPolicy, SessionConfig, SessionId } from '../../../session/words.ts';
import type { Client, LiveSession } from '../../api.ts';
import { checkForkPolicy, INHERITED } from '../../environment-policy.ts';
import { readBranch } from '../../read-branch.ts';
import type { ControlTarget, HistoryControls } from '../api.ts';
import { noSuchSession } from '../sessions-at-hand.ts';
import { sealOf } from './history-moves.ts';

type Request = Parameters<HistoryControls['fork']>[1];

/** A session that is copied, as it stands now. */
export type ForkSource = {
  readonly branch: Branch;
  readonly marks: MessageMarks;
  readonly config: SessionConfig;
};

/** What forks are made with. */
export type ForkParts = {
  readonly journal: Pick<Journal, 'append' | 'readHistory' | 'session' | 'deleteSession'>;
  readonly newId: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The session, live or stored. Throws `unknown_session`. */
  readonly source: (sessionId: SessionId) => Promise<ForkSource>;
  /** Throws `host.bad_environment`. */
  readonly checkEnvironment: (policy: EnvironmentPolicy) => void;
  /** Brings a stored session to life for a client. Throws `host.bad_cwd`. */
  readonly open: (sessionId: SessionId, client: Client) => Promise<LiveSession>;
};

/** Of the session they happened in alone: its branches, its files and its processes. */
const LEFT_OUT: readonly HistoryEvent['type'][] = [
  'session_created',
  'history_moved',
  'turn_checkpoint',
  'files_restored',
  'workspace_checkpointed',
  'process_started',
  'process_ended',
];

const ALL = Number.MAX_SAFE_INTEGER;

/** Ids stand in addresses, file names and command lines, so they are kept to what all of those take. */
const USABLE_ID = /^[0-9A-Za-z][0-9A-Za-z._-]{0,127}$/;

/** Copies conversations into sessions of their own. */
export class SessionForks {
  readonly #parts: ForkParts;
  /** Ids of forks that are not on disk yet. */
  readonly #making = new Set<SessionId>();

  constructor(parts: ForkParts) {
    this.#parts = parts;
  }

  /**
   * The new session holds the branch up to the cut and nothing that refers to its parent; it is on disk whole or not at
   * all. Throws `unknown_session`, `invalid_params`, `session_exists`, `environment_widened`, and what
   * `MessageMarks.cut` throws.
   */
  async fork(
    { sessionId, actor }: ControlTarget,
    request: Request,
    client: Client,
  ): ReturnType<HistoryControls['fork']> {
    const { journal, newId, now, source } = this.#parts;
    const parentId = sessionId as SessionId;
    const { branch, marks, config } = await source(parentId);
    const cut = marks.cut(request.at);
    const child = usable(request.id ?? newId());
    await this.#once(child, async () => {
      const copied = await readBranch(between(branch, 0, cut.to + 1), { limit: ALL }, (range) =>
        journal.readHistory(parentId, range),
      );
      // Deleted while it was read: what was read may be a part of it.
      if ((await journal.session(parentId)) === null) throw noSuchSession(sessionId);
      const events = copied.map(({ event }) => event);
      const created = this.#created(events[0], parentId, cut, request);
      const copies = contents(events, cut, config, actor, request.branchName);
      await journal.append(child, withCauses([created, ...copies], copied));
    });
    const at = now();
    const branchedAt = 'whole' in request.at ? null : cut.messageCount;
    return { session: await this.#open(child, client), parentId, branchedAt, at };
  }

  /** A fork that nobody can use (its folder is gone) is not left behind. */
  async #open(child: SessionId, client: Client): Promise<LiveSession> {
    try {
      return await this.#parts.open(child, client);
    } catch (error) {
      await this.#parts.journal.deleteSession(child);
      throw error;
    }
  }

  /** Two forks that ask for the same id at the same time must not both find it free. */
  async #once(child: SessionId, make: () => Promise<void>): Promise<void> {
    if (child === HOST_STREAM || this.#making.has(child)) throw taken(child);
    this.#making.add(child);
    try {
      if ((await this.#parts.journal.session(child)) !== null) throw taken(child);
      await make();
    } finally {
      this.#making.delete(child);
    }
  }

  #created(
    first: HistoryEvent | undefined,
    parentId: SessionId,
    cut: Cut,
    { branchName, environmentPolicy }: Request,
  ): HistoryEvent {
    if (first?.type !== 'session_created')
      throw new TypeError('A history begins with session_created');
    const { parent: _, ...created } = first;
    const parentPolicy = created.environmentPolicy ?? INHERITED;
    if (environmentPolicy !== undefined)
      checkForkPolicy(parentPolicy, environmentPolicy, this.#parts.checkEnvironment);
    const name = branchName === undefined ? {} : { branchName };
    return {
      ...created,
      ...(environmentPolicy === undefined ? {} : { environmentPolicy }),
      parent: { sessionId: parentId, eventId: cut.to, ...name },
    };
  }
}

/** A copied event keeps what brought it about; the end of a turn that was cut has the cause of its beginning. */
function withCauses(
  events: readonly HistoryEvent[],
  copied: readonly Stored<HistoryEvent>[],
): readonly NewRecord[] {
  const causes = new Map(copied.map(({ event, cause }) => [event, cause]));
  const turns = new Map(
    copied.flatMap(({ event, cause }) =>
      event.type === 'turn_started' ? [[event.turnId, cause] as const] : [],
    ),
  );
  return events.map((event) => {
    const cause =
      causes.get(event) ?? (event.type === 'turn_ended' ? turns.get(event.turnId) : undefined);
    return { stream: 'history', event, ...(cause === undefined ? {} : { cause }) };
  });
}

function taken(child: SessionId): ControlRefused {
  return new ControlRefused(
    'session_exists',
    `There is a session ${child} already. Choose another id, or leave it out.`,
    { id: child },
  );
}

function usable(id: string): SessionId {
  if (USABLE_ID.test(id)) return id as SessionId;
  throw new ControlRefused(
    'invalid_params',
    'The id of a session begins with a letter or digit and has up to 128 letters, digits, dots, dashes and underscores. Choose another id, or leave it out.',
  );
}

/** What follows the first event: the copied ones, the end of a turn that was cut, and the options of today. */
function contents(
  events: readonly HistoryEvent[],
  cut: Cut,
  config: SessionConfig,
  actor: Actor,
  branchName: string | undefined,
): readonly HistoryEvent[] {
  const copied = events.filter(({ type }) => !LEFT_OUT.includes(type));
  const last = events.findLast(
    (event) => event.type === 'config_changed' || event.type === 'session_created',
  );
  const hasConfig =
    (last?.type === 'config_changed' || last?.type === 'session_created') &&
    canonicalJson(last.config) === canonicalJson(config);
  const today: readonly HistoryEvent[] = hasConfig
    ? []
    : [{ type: 'config_changed', config, actor }];
  const title = copied.findLast((event) => event.type === 'title_changed');
  const titled: readonly HistoryEvent[] =
    title === undefined
      ? []
      : [{ type: 'title_changed', title: forkedTitle(title.title, branchName) }];
  return [...copied, ...sealOf(cut), ...titled, ...today];
}
