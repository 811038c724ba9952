import type { Json, JsonObject } from '../base/json.ts';
import type { SessionUpdate } from './acp.ts';

/**
 * The `_pilothouse/` extension, version 1. A client declares it by `clientCapabilities._meta.pilothouse = {version: 1}`;
 * the agent advertises it by `agentCapabilities._meta.pilothouse = {version: 1, methods: […]}`.
 */

/** Requests from client to agent: method → [params, result]. */
export type PilothouseAgentMethods = {
  '_pilothouse/history/page': [HistoryPageParams, HistoryPage];
  '_pilothouse/history/hash_at': [
    { sessionId: string; eventId: number },
    { eventId: number; prefixHash: string | null },
  ];
  '_pilothouse/history/verify': [
    { sessionId: string },
    { ok: boolean; eventId?: number; reason?: string },
  ];
  '_pilothouse/sessions/search': [
    { text: string; cursor?: string; limit?: number },
    { sessions: readonly JsonObject[]; nextCursor?: string },
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
  /** Tunnels one message of the transcript language server; answers travel as the notification of the same name. */
  '_pilothouse/lsp': [{ message: JsonObject }, Record<string, never>];
};

/** Requests from agent to client. */
export type PilothouseClientMethods = {
  /** A sign-in is needed: a model key, or an MCP server's login at `url`. Answer when done or given up. */
  '_pilothouse/auth': [
    {
      sessionId: string;
      gateId: string;
      target: string;
      targetKind: 'model' | 'mcp';
      message: string;
      url?: string;
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
};

export type HistoryPageParams = {
  sessionId: string;
  /** Exclusive event ids; give one. Without either the newest page is returned. */
  before?: number;
  after?: number;
  /** 1 to 1,000 entries; 200 if missing. */
  limit?: number;
};

/** Entries oldest first. An entry is one enduring event as the updates it projects to (none for bookkeeping). */
export type HistoryPage = {
  entries: readonly { eventId: number; at: string; updates: readonly SessionUpdate[] }[];
  hasBefore: boolean;
  hasAfter: boolean;
  lastEventId: number;
};

export type ListedModel = {
  id: string;
  name: string;
  description?: string;
  available: boolean;
  /** What to do to make it available. */
  unavailableReason?: string;
  contextTokens?: number;
  images: boolean;
};

export type ListedRule = {
  scope: 'session' | 'workspace' | 'user';
  effect: 'allow' | 'ask' | 'deny';
  tool: string;
  kind: string;
  pattern: string;
};

/** A file that a session's own tools changed. */
export type ChangedFile = {
  path: string;
  state: 'added' | 'modified' | 'deleted';
  addedLines: number;
  removedLines: number;
};

export type EditorModel = {
  vendor: string;
  family: string;
  id: string;
  name: string;
  maxInputTokens: number;
  images: boolean;
};

export type EditorPart =
  | { type: 'text'; text: string }
  | { type: 'tool_call'; callId: string; name: string; input: JsonObject };

export type EditorGenerateParams = {
  requestId: string;
  modelId: string;
  system: string;
  messages: readonly EditorMessage[];
  tools: readonly { name: string; description: string; inputSchema: JsonObject }[];
};

export type EditorMessage =
  | { role: 'user'; parts: readonly EditorInput[] }
  | {
      role: 'assistant';
      text: string;
      calls: readonly { callId: string; name: string; input: JsonObject }[];
    }
  | { role: 'tool'; results: readonly { callId: string; parts: readonly EditorInput[] }[] };

export type EditorInput =
  | { type: 'text'; text: string }
  | { type: 'image'; mimeType: string; data: string };
