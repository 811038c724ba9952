import type { Json, JsonObject } from '../base/json.ts';
import type { ContentBlock, SessionUpdate } from './acp.ts';
import type {
  ListedCheckpoint,
  Overwrite,
  RestoreChoice,
  RestorePreview,
  SkippedPath,
} from './checkpoint-shapes.ts';
import type { Actor } from './controls.ts';
import type { EditorGenerateParams, EditorModel, EditorPart } from './editor-models.ts';
import type { PendingInjection } from './harn.ts';
import type { ChangedFile, ListedModel, ListedRule, StagedChange } from './listed-shapes.ts';
import type { ReceiptList, ReceiptListParams } from './receipt-shapes.ts';
import type { OnDetach, RoleGiver, SessionClient } from './session-clients.ts';

/**
 * The `_pilothouse/` extension, version 1. A client declares it by `clientCapabilities._meta.pilothouse = {version: 1}`,
 * and may say there what becomes of its sessions' work when it goes, by `onDetach`: `keep` or `stop`;
 * the agent advertises it by `agentCapabilities._meta.pilothouse = {version: 1, methods: […]}`.
 */

/** Requests from client to agent: method → [params, result]. */
export type PilothouseAgentMethods = {
  '_pilothouse/history/page': [HistoryPageParams, HistoryPage];
  '_pilothouse/history/hash_at': [
    { sessionId: string; eventId: number },
    { eventId: number; prefixHash: string | null },
  ];
  /** Of the history, or of the receipts; `eventId` is the place of the record that does not fit its hash. */
  '_pilothouse/history/verify': [
    { sessionId: string; stream?: 'history' | 'control' },
    { ok: boolean; eventId?: number; reason?: string },
  ];
  /** Newest session first: those in which a message or the title holds every word, the last one perhaps unfinished. */
  '_pilothouse/sessions/search': [
    { text: string; cursor?: string; limit?: number },
    { sessions: readonly (JsonObject & SearchFindings)[]; nextCursor?: string },
  ];
  '_pilothouse/secrets/set': [{ source: string; key: string | null }, Record<string, never>];
  '_pilothouse/models/configure': [
    { providers: readonly Json[]; defaultModel?: string },
    { problems: readonly string[] },
  ];
  '_pilothouse/models/list': [Record<string, never>, { models: readonly ListedModel[] }];
  '_pilothouse/policy/list': [{ sessionId?: string }, { rules: readonly ListedRule[] }];
  '_pilothouse/policy/reset': [
    { scope: 'session' | 'workspace' | 'user' | 'all'; sessionId?: string },
    { removed: number },
  ];
  '_pilothouse/changes/list': [{ sessionId: string }, { files: readonly ChangedFile[] }];
  '_pilothouse/gates/list': [{ sessionId: string }, { gates: readonly JsonObject[] }];
  /** Text of a file as it was before the session first wrote it (`before`) or as the session last wrote it (`after`). */
  '_pilothouse/changes/text': [
    { sessionId: string; path: string; side: 'before' | 'after' },
    { text: string | null },
  ];
  /** Oldest first; without a session, the receipts of controls that named none that is here. */
  '_pilothouse/receipts/list': [ReceiptListParams, ReceiptList];
  '_pilothouse/checkpoints/list': [
    { sessionId: string },
    { checkpoints: readonly ListedCheckpoint[] },
  ];
  /** What a rollback, redo or restore would do to files; changes nothing. */
  '_pilothouse/checkpoints/preview': [{ sessionId: string } & RestoreChoice, RestorePreview];
  /** One file of that preview: text, or null where there is none or it is binary. */
  '_pilothouse/checkpoints/text': [
    { sessionId: string; path: string; side: 'now' | 'then' } & RestoreChoice,
    { text: string | null },
  ];
  /** Files only, the transcript stays. A control. */
  '_pilothouse/checkpoints/restore': [
    { sessionId: string; checkpointId: string; overwrite?: Overwrite },
    { restoredPaths: readonly string[]; skippedPathsWithReasons: readonly SkippedPath[] },
  ];
  /** The queue methods are controls, but `list`. */
  '_pilothouse/queue/list': [{ sessionId: string }, NextTurnQueue];
  '_pilothouse/queue/add': [
    { sessionId: string; content: readonly ContentBlock[]; before?: string; itemId?: string },
    QueueChanged,
  ];
  '_pilothouse/queue/edit': [
    { sessionId: string; itemId: string; content: readonly ContentBlock[] },
    QueueChanged,
  ];
  /** Without `before`: to the end. */
  '_pilothouse/queue/move': [{ sessionId: string; itemId: string; before?: string }, QueueChanged];
  '_pilothouse/queue/remove': [{ sessionId: string; itemId: string }, QueueChanged];
  '_pilothouse/queue/pause': [{ sessionId: string }, QueueChanged];
  '_pilothouse/queue/resume': [{ sessionId: string }, QueueChanged];
  /** Stops what runs and sends this one next. */
  '_pilothouse/queue/send_now': [{ sessionId: string; itemId: string }, QueueChanged];
  '_pilothouse/staged/list': [
    { sessionId: string },
    { mode: 'immediate' | 'staged'; files: readonly StagedChange[] },
  ];
  '_pilothouse/staged/text': [
    { sessionId: string; path: string; side: 'base' | 'staged' },
    { text: string | null },
  ];
  /** Part of a staged file: `disk` is written now, `staged` is what stays staged. A control. */
  '_pilothouse/staged/edit': [
    { sessionId: string; path: string; disk?: string; staged: string | null },
    Record<string, never>,
  ];
  /**
   * Joins a session, or changes the role in it. `onDetach: keep` needs a host that outlives its client; the snapshot says
   * what holds.
   */
  '_pilothouse/attach': [
    { sessionId: string; role?: 'host_owner' | 'observer'; onDetach?: OnDetach },
    SessionSnapshot,
  ];
  '_pilothouse/detach': [{ sessionId: string }, Record<string, never>];
  /**
   * Takes the control of a session that this client is attached to, if its credential allows that: it owns and acts from
   * now on. With `exclusive` all others observe from now on.
   */
  '_pilothouse/claim': [
    { sessionId: string; exclusive?: boolean },
    { role: 'host_owner' | 'observer' },
  ];
  /** Gives the control to another attached client, by its key: it owns and acts, this one observes from now on. */
  '_pilothouse/hand_over': [{ sessionId: string; to: string }, { role: 'host_owner' | 'observer' }];
  /** Who is attached to a session, in the order in which they came; nobody where it is not live. */
  '_pilothouse/clients/list': [{ sessionId: string }, { clients: readonly SessionClient[] }];
  /** Condenses what the model reads, now or at the running turn's next step. A control; answered when it is done. */
  '_pilothouse/compact': [
    { sessionId: string; loopId?: string },
    { beforeMessageCount: number; afterMessageCount: number },
  ];
  /**
   * Answers an open gate, also one of a delegate: `optionId` for a permission, `content` for a question or form,
   * neither to accept a sign-in; `decline` for no. A control. The first answer wins.
   */
  '_pilothouse/gates/respond': [
    {
      sessionId: string;
      gateId: string;
      optionId?: string;
      content?: JsonObject;
      decline?: boolean;
      note?: string;
    },
    { status: 'answered' },
  ];
  /** Takes back an input that has not begun: a waiting prompt, a held message, a pending inject. A control. */
  '_pilothouse/commands/withdraw': [
    { sessionId: string; commandId: string },
    { status: 'withdrawn' | 'no_op' },
  ];
  /** What became of a command. A read. */
  '_pilothouse/commands/get': [{ sessionId: string; commandId: string }, CommandState];
  /** The root loop and its delegates, parents before children. A read. */
  '_pilothouse/loops/list': [{ sessionId: string }, { activeLoopId: string; loops: ListedLoop[] }];
  /** Prompts without a loop go to this one from here on. A control. */
  '_pilothouse/loops/activate': [{ sessionId: string; loopId: string }, { activeLoopId: string }];
  /** Controls. */
  '_pilothouse/delegates/message': [
    { sessionId: string; loopId: string; text: string },
    { requestId: string; delivery: 'steered' | 'started' },
  ];
  '_pilothouse/delegates/stop': [
    { sessionId: string; loopId: string },
    { status: 'stopped' | 'already_stopped' },
  ];
  /** Keeps the workspace's files as they are now. A control. */
  '_pilothouse/checkpoints/create': [
    { sessionId: string },
    { checkpointId: string; coverage: 'full' | 'partial'; reason?: string },
  ];
  /**
   * Follows a session's events over `_pilothouse/event` notifications, first stored ones, then live ones, without gap
   * or repeat. A reader that is too slow is served from the store again.
   */
  '_pilothouse/events/subscribe': [
    {
      sessionId: string;
      /** Missing: all, also those to come. */
      loops?: string[];
      /** Missing: all. */
      classes?: EventClass[];
      from?: EventsFrom;
    },
    { subscriptionId: string; lastEventId: number },
  ];
  '_pilothouse/events/unsubscribe': [{ subscriptionId: string }, Record<string, never>];
  /** A read. Markdown is for people; JSON holds every record with its hash and can be imported. */
  '_pilothouse/sessions/export': [
    { sessionId: string; format: 'markdown' | 'json'; path?: string },
    { text?: string; path?: string; bytes: number },
  ];
  /** Takes a session from exported JSON, under its own ids; its chains are checked before anything is kept. */
  '_pilothouse/sessions/import': [
    { path?: string; text?: string; cwd?: string },
    { sessionId: string; events: number; prefixHash: string },
  ];
  /** Whether the store takes records, and what to do where it does not. A read. */
  '_pilothouse/store/status': [
    Record<string, never>,
    { ok: boolean; code?: string; message?: string; dataFolder: string },
  ];
  /** Tunnels one message of the transcript language server; answers travel as the notification of the same name. */
  '_pilothouse/lsp': [{ message: JsonObject }, Record<string, never>];
};

/** Requests from agent to client. */
export type PilothouseClientMethods = {
  /** A model key or a login at `url` is needed (`loopId`: by that delegate). Answer when done or given up. */
  '_pilothouse/auth': [
    {
      sessionId: string;
      gateId: string;
      loopId?: string;
      target: string;
      targetKind: 'model' | 'mcp';
      message: string;
      url?: string;
      /** It answers itself once such an editor is connected; `done` tries again now. */
      waitsFor?: 'editor';
    },
    { outcome: 'done' | 'cancelled' },
  ];
  '_pilothouse/editor_models/list': [Record<string, never>, { models: readonly EditorModel[] }];
  /** Streams `_pilothouse/editor_models/part` notifications with this `requestId`, then answers. */
  '_pilothouse/editor_models/generate': [
    EditorGenerateParams,
    { finish: 'stop' | 'tool_calls' | 'length' | 'other' },
  ];
};

/** Notifications from client to agent. */
export type PilothouseAgentNotifications = {
  '_pilothouse/editor_models/part': { requestId: string; part: EditorPart };
  '_pilothouse/editor_models/changed': Record<string, never>;
};

/** Notifications from agent to client. */
export type PilothouseClientNotifications = {
  '_pilothouse/lsp': { message: JsonObject };
  '_pilothouse/models/changed': Record<string, never>;
  /** A session that is listed but perhaps not attached here changed: what trees show. */
  '_pilothouse/session_changed': { session: JsonObject };
  '_pilothouse/session_deleted': { sessionId: string };
  /** This client's role in an attached session is another from now on; `by` may be itself. */
  '_pilothouse/role_changed': {
    sessionId: string;
    role: 'host_owner' | 'observer';
    by: RoleGiver;
  };
  /** Clients of an attached session came, went or changed their role, or another one acts; the whole list each time. */
  '_pilothouse/clients_changed': { sessionId: string; clients: readonly SessionClient[] };
  /** What waits to be delivered or sent in an attached session; the whole lists each time. */
  '_pilothouse/pending_changed': {
    sessionId: string;
    pending: readonly PendingInjection[];
    queue: NextTurnQueue;
  };
  /** One delivery of a subscription. `eventId` is missing on ephemeral events. */
  '_pilothouse/event': {
    subscriptionId: string;
    loopId: string;
    class: EventClass;
    eventId?: number;
    at?: number;
    hash?: string;
    cause?: { command_ids: readonly string[] };
    event: JsonObject;
  };
  /** A subscription ended by itself: its session was deleted, or its records could not be read. */
  '_pilothouse/events_ended': {
    subscriptionId: string;
    reason: 'deleted' | 'failed';
    message?: string;
  };
  '_pilothouse/staged_changed': {
    sessionId: string;
    mode: 'immediate' | 'staged';
    paths: readonly string[];
  };
};

/** What a search found in a session and its delegates, beside what lists show of it. */
export type SearchFindings = {
  /** A few: the title, then the newest. */
  hits: SearchHit[];
  /** Messages that hold every word; at least so many if it is not exact. */
  hitCount: number;
  isHitCountExact: boolean;
};

export type SearchHit = {
  /** The event that the message begins with; null for the title. */
  eventId: number | null;
  /** `machine`: what the host gave the agent to do. */
  role: 'user' | 'assistant' | 'tool' | 'machine' | 'title';
  /** Plain text of one line around the match. */
  snippet: string;
  /** Where in the snippet the words stand: from, to (exclusive), in UTF-16 units. */
  ranges: [start: number, end: number][];
  /** Present if a delegate's loop said it. */
  loopId?: string;
};

/** Stored in the history, stored as bookkeeping, or only told. */
export type EventClass = 'history' | 'control' | 'ephemeral';

/**
 * Where a subscription begins. Missing: with what happens from now on. 0: with the first event. Another number: behind
 * that event of the root loop, and with what happens from now on in all else. By loop: behind the last event that the
 * reader has of each class, and with the first of all else.
 */
export type EventsFrom = number | { [loopId: string]: { history?: number; control?: number } };

/** What became of a command. */
export type CommandState = {
  commandId: string;
  /** `unknown` if there is none of this id. */
  state: 'unknown' | 'waiting' | 'held' | 'running' | 'done';
  type?: string;
  resolution?: string;
  reason?: string;
  turnId?: string;
};

/** A loop of a session. */
export type ListedLoop = {
  loopId: string;
  parentLoopId: string | null;
  name: string;
  state: 'running' | 'waiting' | 'idle' | 'closed';
  depth: number;
  openGates: number;
  /** The beginning of what it was asked to do. */
  prompt: string;
  /** The tool call of its parent that began it. */
  toolCallId: string | null;
  lastEventId: number;
};

export type HistoryPageParams = {
  sessionId: string;
  /** Exclusive event ids; give one. Without either the newest page is returned. */
  before?: number;
  after?: number;
  /** 1 to 1,000 entries; 200 if missing. */
  limit?: number;
  /** True for everything that ever happened, also what was rolled back; else the current branch. */
  all?: boolean;
};

/** What is held for later turns. `paused` says why nothing is sent by itself. */
export type NextTurnQueue = {
  paused: 'asked' | 'stopped' | 'turn_failed' | 'restart' | null;
  items: readonly {
    itemId: string;
    content: readonly ContentBlock[];
    owner: Actor;
    at: string;
  }[];
};

export type QueueChanged = { itemId: string | null; queue: NextTurnQueue };

/** All a late joiner needs before live events. */
export type SessionSnapshot = {
  role: 'host_owner' | 'observer';
  onDetach: OnDetach;
  session: JsonObject;
  lastEventId: number;
  prefixHash: string;
  gates: readonly JsonObject[];
  pending: readonly PendingInjection[];
  queue: NextTurnQueue;
  partial: readonly { messageId: string; kind: 'text' | 'thought'; offset: number; text: string }[];
  /** The end of what running calls have said: it is in the history only with their results. */
  outputs: readonly { toolCallId: string; text: string }[];
  clients: readonly SessionClient[];
};

/** Entries oldest first. An entry is one enduring event as the updates it projects to (none for bookkeeping). */
export type HistoryPage = {
  entries: readonly {
    eventId: number;
    at: string;
    /** The commands behind it, oldest first; missing where nobody commanded it. */
    cause?: { command_ids: readonly string[] };
    updates: readonly SessionUpdate[];
  }[];
  hasBefore: boolean;
  hasAfter: boolean;
  lastEventId: number;
};
