import { Emitter, type Event } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { Actor } from '../../protocol/controls.ts';
import { agencyOf } from '../session/commands/stamp.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';

import { HOST } from '../session/state/gates.ts';
import type { CommandId, SessionId } from '../session/words.ts';
import type {
  Admission,
  AttachOptions,
  CancelResult,
  Client,
  ListedSession,
  LiveSession,
  NewSession,
  OpenSession,
  SessionHost,
} from './api.ts';
import { BorrowedSessions } from './borrowed-sessions.ts';
import { ChangeLog } from './changes/change-log.ts';
import type { Changes } from './changes/changes.ts';
import { Attendance } from './clients/attendance.ts';
import type { ClientRoom } from './clients/client-room.ts';
import type { Activity } from './clients/host-activity.ts';
import { composeControls } from './controls/compose-controls.ts';
import type { ComposedControls } from './controls/host-controls.ts';
import type { ReceiptWriter } from './controls/receipts/receipted.ts';
import { delegateLoop, type HostError, unknownSession } from './errors.ts';
import type { EventFeed } from './feed/event-feed.ts';
import { createHostFeed } from './feed/host-feed.ts';
import { HistoryReader } from './history-reader.ts';
import type { HostParts } from './host-parts.ts';
import type { HostedSession } from './hosted-session.ts';
import type { HistoryQuery } from './read-branch.ts';
import { SessionEnds } from './session-ends.ts';
import { type ListQuery, SessionList } from './session-list.ts';
import { SessionMaker } from './session-maker.ts';
import { SessionTransfers } from './session-transfers.ts';
import type { EndReason } from './shutdown/close-session.ts';
import { HostEnd } from './shutdown/host-end.ts';
import { SHUTDOWN_DEADLINES, type ShutdownReport } from './shutdown/phases.ts';

/** The one owner of a data folder's live sessions. */
export class LocalSessionHost implements SessionHost {
  readonly #parts: HostParts;
  readonly #maker: SessionMaker;
  readonly #changeLog: ChangeLog;
  readonly #live = new Map<SessionId, HostedSession>();
  readonly #opening = new Map<SessionId, Promise<HostedSession>>();
  readonly #changed = new Emitter<SessionId>();
  readonly #deleted = new Emitter<SessionId>();
  readonly #recorded = new Emitter<Stored<HistoryEvent>>();
  readonly #ends = new SessionEnds();
  readonly #borrowed: BorrowedSessions;
  readonly #attendance: Attendance<HostedSession>;
  readonly #receipts: ReceiptWriter;
  readonly #histories: HistoryReader;
  readonly #list: SessionList;
  readonly controls: ComposedControls;
  /** Exports and imports. */
  readonly transfers: SessionTransfers;
  readonly events: EventFeed;
  #order = 0;
  readonly #end: HostEnd;

  constructor(parts: HostParts) {
    this.#parts = parts;
    const { clock, log, journal } = parts.deps;
    this.#end = new HostEnd({ clock, log, deadlines: parts.deadlines ?? SHUTDOWN_DEADLINES });
    this.#maker = new SessionMaker(parts);
    this.#attendance = new Attendance<HostedSession>({
      clock,
      log,
      graceMs: parts.graceMs,
      live: this.#live,
      isBorrowed: ({ sessionId }) => this.#borrowed.has(sessionId),
      stop: (hosted, client) => this.#leave(hosted, 'client_gone', client.actor),
      free: (hosted) => this.#leave(hosted, 'session_closed', HOST),
    });
    this.#borrowed = new BorrowedSessions({
      ends: this.#ends,
      live: (sessionId) => this.#live.get(sessionId),
      isStored: async (sessionId) => (await journal.session(sessionId)) !== null,
      requireOpen: () => this.#end.requireOpen(),
      open: (sessionId) => this.#openOnce(sessionId, {}),
      givenBack: async (hosted) => {
        if (hosted.isUnused) await this.#leave(hosted, 'session_closed', HOST);
        else this.#attendance.worked(hosted);
      },
    });
    this.transfers = new SessionTransfers(parts.deps.journal, (id) => this.#changed.fire(id));
    this.#changeLog = new ChangeLog(parts.deps.journal);
    this.#list = new SessionList(parts.deps.journal, (id) => this.#live.get(id));
    const { controls, receipts } = composeControls({
      deps: parts.deps,
      live: (sessionId) => this.#live.get(sessionId as SessionId),
      using: (sessionId, work) => this.#borrowed.using(sessionId as SessionId, work),
      nextOrder: () => this.admit().order,
      open: (sessionId, client) => this.open(sessionId, {}, client),
      checkEnvironment: (policy) => parts.factory.environments.check(policy),
    });
    this.controls = controls;
    this.events = createHostFeed({
      journal: parts.deps.journal,
      describe: (sessionId) => this.describe(sessionId),
      loops: (sessionId) => controls.loops(sessionId),
    });
    this.#histories = new HistoryReader({
      journal: parts.deps.journal,
      fresh: this.#maker.fresh,
      timeline: (sessionId) => this.#live.get(sessionId)?.session.timeline,
    });
    this.#receipts = receipts;
  }

  /** Fires when what a list shows of a session may have changed. */
  get onDidChangeSession(): Event<SessionId> {
    return this.#changed.event;
  }

  get onDidDeleteSession(): Event<SessionId> {
    return this.#deleted.event;
  }

  /** Fires for every history event of every live session, once it can be read. */
  get onDidRecord(): Event<Stored<HistoryEvent>> {
    return this.#recorded.event;
  }

  /** How much lives here, and how much of it works. */
  activity(): Activity {
    return this.#attendance.activity.now();
  }

  /** Fires when `activity()` may have changed. */
  get onDidChangeActivity(): Event<void> {
    return this.#attendance.activity.onDidChange;
  }

  get clients(): ClientRoom {
    return this.#attendance.room;
  }

  admit(): Admission {
    this.#order += 1;
    return { order: this.#order };
  }

  live(sessionId: SessionId): HostedSession | undefined {
    return this.#live.get(sessionId);
  }

  async create(request: NewSession, client: Client): Promise<LiveSession> {
    this.#end.requireOpen();
    const making = this.#maker.create(request);
    return this.#join(await this.#end.made(making, (made) => this.#host(made)), client);
  }

  async open(sessionId: SessionId, options: OpenSession, client: Client): Promise<LiveSession> {
    await this.#ends.over(sessionId);
    this.#end.requireOpen();
    const stopped = this.#live.get(sessionId);
    // What could not be kept is gone; what is stored may be there again.
    if (stopped?.session.isFaulted === true) await this.#leave(stopped, 'session_closed', HOST);
    const live = this.#live.get(sessionId);
    if (options.mcpServers !== undefined) live?.configureServers(options.mcpServers);
    const hosted = live ?? (await this.#openOnce(sessionId, options));
    return this.#join(hosted, client, options.attach);
  }

  async list(
    query: ListQuery,
  ): Promise<{ sessions: readonly ListedSession[]; nextCursor?: string }> {
    this.#end.requireStore();
    return await this.#list.page(query);
  }

  async describe(sessionId: SessionId): Promise<ListedSession | null> {
    this.#end.requireStore();
    return await this.#list.one(sessionId);
  }

  async close(sessionId: SessionId, actor: Actor): Promise<void> {
    this.#end.requireStore();
    await this.#ends.run(sessionId, () => this.#close(sessionId, actor));
  }

  async #close(sessionId: SessionId, actor: Actor): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live === undefined) {
      const refusal = await this.#notASession(sessionId);
      if (refusal !== null) {
        await this.controls.refuse('session/close', { sessionId, actor }, 'unknown_session');
        throw refusal;
      }
      await this.#receipts.keep(
        'session/close',
        { sessionId, actor },
        { outcome: 'already_closed', status: 'accepted' },
      );
      return;
    }
    await this.#receipts.keep(
      'session/close',
      { sessionId, actor },
      { outcome: 'closed', status: 'accepted' },
    );
    await this.#endOne(live, 'session_closed', actor);
  }

  async delete(sessionId: SessionId, actor: Actor): Promise<void> {
    this.#end.requireStore();
    await this.#ends.run(sessionId, () => this.#delete(sessionId, actor));
  }

  async #delete(sessionId: SessionId, actor: Actor): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live !== undefined) await this.#endOne(live, 'session_closed', actor);
    const refusal = await this.#notASession(sessionId);
    if (refusal?.code === 'host.delegate_loop') {
      await this.controls.refuse('session/delete', { sessionId, actor }, 'unknown_session');
      throw refusal;
    }
    this.#maker.fresh.drop();
    // Before the rows: a session whose files could not be removed is still there to be deleted again.
    await this.#parts.forgetFiles(sessionId);
    const existed = await this.#parts.deps.journal.deleteSession(sessionId);
    this.#parts.forgetInLog(sessionId);
    const outcome = existed ? 'deleted' : 'already_deleted';
    await this.#receipts.keep(
      'session/delete',
      { sessionId, actor },
      { outcome, status: 'accepted' },
    );
    this.events.deleted(sessionId);
    if (existed) this.#deleted.fire(sessionId);
  }

  cancel(
    sessionId: SessionId,
    admission: Admission,
    actor: Actor,
    commandId?: CommandId,
  ): CancelResult {
    const live = this.#live.get(sessionId);
    if (live === undefined) {
      const receipt = this.controls.refuse(
        'session/cancel',
        { sessionId, actor },
        'unknown_session',
      );
      return { status: 'unknown_session', receipt };
    }
    const { ended, recorded } = live.session.cancel(
      admission.order,
      { kind: 'cancelled', by: actor.clientId },
      { actor, agency: agencyOf(actor), ...(commandId === undefined ? {} : { commandId }) },
    );
    const status = ended ? 'cancelled' : 'already_cancelled';
    const kept = this.#receipts.keep(
      'session/cancel',
      { sessionId, actor },
      { outcome: status, status: 'accepted' },
    );
    return { status, receipt: Promise.all([recorded, kept]).then(() => undefined) };
  }

  async history(
    sessionId: SessionId,
    query: HistoryQuery,
  ): Promise<readonly Stored<HistoryEvent>[]> {
    this.#end.requireStore();
    return this.#histories.read(sessionId, query);
  }

  async detach(sessionId: SessionId, client: Client): Promise<void> {
    const hosted = this.#live.get(sessionId);
    if (hosted === undefined) throw unknownSession(sessionId);
    await this.#attendance.left(hosted, client);
  }

  async clientGone(client: Client): Promise<void> {
    const live = [...this.#live.values()];
    await Promise.all(live.map((hosted) => this.#attendance.left(hosted, client)));
  }

  async hashAt(sessionId: SessionId, eventId: number): Promise<string | null> {
    return this.#parts.deps.journal.hashAt(sessionId, eventId);
  }

  async verify(
    sessionId: SessionId,
    stream: 'history' | 'control' = 'history',
  ): Promise<{ ok: true } | { ok: false; eventId: number; reason: string }> {
    const result = await this.#parts.deps.journal.verify(sessionId, stream);
    return result.ok ? { ok: true } : { ok: false, eventId: result.seq, reason: result.reason };
  }

  /** The files a session changed, live or stored. */
  async changes(sessionId: SessionId): Promise<Changes> {
    if ((await this.describe(sessionId)) === null) throw unknownSession(sessionId);
    return this.#changeLog.of(sessionId);
  }

  /**
   * Stops every session, in phases that are bounded, so that one that can't be stopped keeps none of the others. What
   * is asked for from here on is refused. With `leavesQuestions` a turn that stands at its question stays open, for the
   * host that comes next. Idempotent: all callers get one report. Never rejects.
   */
  shutdown({ leavesQuestions = false } = {}): Promise<ShutdownReport> {
    this.#attendance.dispose();
    return this.#end.run(
      async () => {
        await Promise.allSettled(
          [...this.#live.values()].map((hosted) => {
            const isLeft = leavesQuestions && hosted.isAtQuestion;
            return this.#leave(hosted, isLeft ? 'left_open' : 'client_gone', HOST);
          }),
        );
        await this.#ends.all();
      },
      () => this.#disposeFeeds(),
    );
  }

  #disposeFeeds(): void {
    this.#changed.dispose();
    this.#deleted.dispose();
    this.#recorded.dispose();
    this.events.dispose();
    this.#attendance.activity.dispose();
  }

  async #openOnce(sessionId: SessionId, options: OpenSession): Promise<HostedSession> {
    const known = this.#opening.get(sessionId);
    if (known !== undefined) return known;
    const opening = this.#end.made(this.#maker.restore(sessionId, options), (made) =>
      this.#host(made),
    );
    this.#opening.set(sessionId, opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(sessionId);
    }
  }

  #host(hosted: HostedSession): void {
    const { sessionId } = hosted;
    this.#live.set(sessionId, hosted);
    hosted.watch((what, failure) =>
      this.#parts.deps.log.warn(what, { sessionId, error: messageOf(failure) }),
    );
    hosted.subscribe((signal) => {
      this.events.publish(sessionId, signal);
      if (signal.stream === 'history') this.#recorded.fire(signal.record);
      const own = signal.stream === 'loop' ? signal.signal : signal;
      if (own.stream === 'ephemeral' && own.event.type !== 'activity_changed') return;
      this.#changed.fire(sessionId);
      this.#attendance.worked(hosted);
    });
    hosted.onDidEndProcess(() => this.#attendance.worked(hosted));
  }

  #join(hosted: HostedSession, client: Client, options?: AttachOptions): HostedSession {
    this.#attendance.joined(hosted, client, options);
    this.#changed.fire(hosted.sessionId);
    return hosted;
  }

  #leave(hosted: HostedSession, why: EndReason, actor: Actor): Promise<void> {
    return this.#ends.run(hosted.sessionId, () => this.#endOne(hosted, why, actor));
  }

  async #endOne(hosted: HostedSession, why: EndReason, actor: Actor): Promise<void> {
    if (this.#live.get(hosted.sessionId) !== hosted) return;
    this.#end.note(await hosted.close(why, actor));
    if (this.#live.get(hosted.sessionId) === hosted) this.#live.delete(hosted.sessionId);
    this.#attendance.ended(hosted);
    this.#changeLog.forget(hosted.sessionId);
    this.#changed.fire(hosted.sessionId);
  }

  /** Why an id is not that of a session; null if it is. */
  async #notASession(sessionId: SessionId): Promise<HostError | null> {
    const row = await this.#parts.deps.journal.session(sessionId);
    if (row === null) return unknownSession(sessionId);
    return row.rootId === undefined ? null : delegateLoop(sessionId, row.rootId);
  }
}
