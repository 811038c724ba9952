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
} from '../../../src/core/host/api.ts';
import { AttachedClients } from '../../../src/core/host/clients/attached-clients.ts';
import { ClientRoom } from '../../../src/core/host/clients/client-room.ts';
import type {
  FileControls,
  HistoryControls,
  HostControls,
} from '../../../src/core/host/controls/api.ts';
import type { ReceiptWriter } from '../../../src/core/host/controls/receipts/receipted.ts';
import { HostError, unknownSession } from '../../../src/core/host/errors.ts';
import { createHostFeed } from '../../../src/core/host/feed/host-feed.ts';
import type { HistoryQuery } from '../../../src/core/host/read-branch.ts';
import type { HistoryEvent, Stored } from '../../../src/core/session/events.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import type { Actor, ControlOutcome } from '../../../src/protocol/controls.ts';
import { fakeControls } from './fake-controls.ts';
import { FakeSession, type TurnScript } from './fake-session.ts';

/** A turn that says hello, or counts until it is stopped when asked to count slowly. */
export const PLAIN_TURN: TurnScript = async ({ text, say, signal }) => {
  if (!text.startsWith('count slowly')) {
    say('hello ');
    say('there');
    return 'end_turn';
  }
  say('1\n');
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return 'cancelled';
};

/** A host without engine or store, which notes what is asked of it. */
export class FakeHost implements SessionHost {
  readonly sessions = new Map<string, FakeSession>();
  /** Sessions on disk only. */
  readonly stored = new Set<string>();
  readonly calls: string[] = [];
  readonly gone: Client[] = [];
  readonly #attached = new Map<string, AttachedClients>();
  readonly clients = new ClientRoom((sessionId) => {
    const clients = this.#attached.get(sessionId);
    return clients && { clients, goOn: () => undefined };
  });
  client: Client | undefined;
  lastNew: NewSession | undefined;
  lastOpen: OpenSession | undefined;
  script: TurnScript = PLAIN_TURN;
  readonly historyControls: Partial<HistoryControls> = {};
  readonly fileControls: Partial<FileControls> = {};
  readonly controls: HostControls;
  readonly events = createHostFeed({
    journal: {
      readHistory: async (sessionId, { after = 0, limit }) =>
        this.#known(sessionId).records.slice(after, after + limit),
      readControl: async () => [],
    },
    describe: (sessionId) => this.describe(sessionId),
    loops: (sessionId) => this.controls.loops(sessionId),
  });
  /** Every receipt, oldest first. */
  readonly receipts: ControlOutcome[];
  readonly #writer: ReceiptWriter;
  #order = 0;
  #nextSession = 1;

  constructor() {
    const { controls, kept, writer } = fakeControls({
      live: (sessionId) => (this.stored.has(sessionId) ? undefined : this.sessions.get(sessionId)),
      isStored: (sessionId) => this.sessions.has(sessionId),
      history: this.historyControls,
      files: this.fileControls,
    });
    this.controls = controls;
    this.receipts = kept;
    this.#writer = writer;
  }

  admit(): Admission {
    this.#order += 1;
    return { order: this.#order };
  }

  /** Puts a session in place as if it had been created earlier. */
  add(cwd = '/tmp'): FakeSession {
    const session = new FakeSession(`session-${this.#nextSession}`, cwd, (turn) =>
      this.script(turn),
    );
    this.#nextSession += 1;
    this.sessions.set(session.sessionId, session);
    session.subscribe((signal) => this.events.publish(session.sessionId, signal));
    return session;
  }

  async create(request: NewSession, client: Client): Promise<LiveSession> {
    this.client = client;
    this.lastNew = request;
    if (request.cwd.startsWith('/missing'))
      throw new HostError('host.bad_cwd', `${request.cwd} is not a folder.`);
    return this.#join(this.add(request.cwd), client);
  }

  async open(sessionId: SessionId, options: OpenSession, client: Client): Promise<LiveSession> {
    this.client = client;
    this.lastOpen = options;
    this.stored.delete(sessionId);
    return this.#join(this.#known(sessionId), client, options.attach);
  }

  #join(session: FakeSession, client: Client, options?: AttachOptions): FakeSession {
    const { sessionId } = session;
    const clients = this.#attached.get(sessionId) ?? new AttachedClients(sessionId, () => 0);
    this.#attached.set(sessionId, clients);
    clients.attach(client, options);
    session.onPrompt = ({ client: sender }) => {
      if (sender !== undefined) clients.acted(sender);
    };
    return session;
  }

  live(sessionId: SessionId): LiveSession | undefined {
    return this.stored.has(sessionId) ? undefined : this.sessions.get(sessionId);
  }

  async list(query: {
    cwd?: string;
    cursor?: string;
    limit?: number;
  }): Promise<{ sessions: readonly ListedSession[]; nextCursor?: string }> {
    const all = [...this.sessions.values()]
      .map((session) => session.describe())
      .filter(({ cwd }) => query.cwd === undefined || cwd === query.cwd);
    const from = Number(query.cursor ?? 0);
    const limit = query.limit ?? 2;
    const next = from + limit < all.length ? { nextCursor: String(from + limit) } : {};
    return { sessions: all.slice(from, from + limit), ...next };
  }

  async describe(sessionId: SessionId): Promise<ListedSession | null> {
    return this.sessions.get(sessionId)?.describe() ?? null;
  }

  async close(sessionId: SessionId, actor: Actor): Promise<void> {
    const target = { sessionId, actor };
    if (!this.sessions.has(sessionId))
      await this.controls.refuse('session/close', target, 'unknown_session');
    const session = this.#known(sessionId);
    this.calls.push(`close ${sessionId}`);
    await this.#writer.keep('session/close', target, { outcome: 'closed', status: 'accepted' });
    session.cancelBefore(Number.POSITIVE_INFINITY);
    this.stored.add(sessionId);
  }

  async delete(sessionId: SessionId, actor: Actor): Promise<void> {
    this.calls.push(`delete ${sessionId}`);
    this.sessions.delete(sessionId);
    const done = { outcome: 'deleted', status: 'accepted' } as const;
    await this.#writer.keep('session/delete', { sessionId, actor }, done);
  }

  cancel(sessionId: SessionId, admission: Admission, actor: Actor): CancelResult {
    this.calls.push(`cancel ${sessionId}`);
    const target = { sessionId, actor };
    const session = this.sessions.get(sessionId);
    if (!session) {
      const receipt = this.controls.refuse('session/cancel', target, 'unknown_session');
      return { status: 'unknown_session', receipt };
    }
    const status = session.cancelBefore(admission.order) ? 'cancelled' : 'already_cancelled';
    const done = { outcome: status, status: 'accepted' } as const;
    return { status, receipt: this.#writer.keep('session/cancel', target, done) };
  }

  async detach(sessionId: SessionId, client: Client): Promise<void> {
    this.calls.push(`detach ${sessionId}`);
    this.#left(this.#known(sessionId), client);
  }

  async history(
    sessionId: SessionId,
    range: HistoryQuery,
  ): Promise<readonly Stored<HistoryEvent>[]> {
    const { after = 0, before = Infinity, tip = Infinity, limit, newestFirst } = range;
    const fitting = this.#known(sessionId).records.filter(
      ({ seq }) => seq > after && seq < before && seq <= tip,
    );
    return newestFirst ? fitting.toReversed().slice(0, limit) : fitting.slice(0, limit);
  }

  async clientGone(client: Client): Promise<void> {
    this.gone.push(client);
    for (const session of this.sessions.values()) this.#left(session, client);
  }

  #left(session: FakeSession, client: Client): void {
    const left = this.#attached.get(session.sessionId)?.detach(client);
    if (left === 'stop') session.cancelBefore(Number.POSITIVE_INFINITY);
  }

  async hashAt(sessionId: SessionId, eventId: number): Promise<string | null> {
    return this.#known(sessionId).records[eventId - 1]?.hash ?? null;
  }

  async verify(): Promise<{ ok: true }> {
    return { ok: true };
  }

  #known(sessionId: string): FakeSession {
    const session = this.sessions.get(sessionId);
    if (!session) throw unknownSession(sessionId);
    return session;
  }
}
