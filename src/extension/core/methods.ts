import type {
  CancelNotification,
  CloseSessionRequest,
  CloseSessionResponse,
  ContentBlock,
  DeleteSessionRequest,
  DeleteSessionResponse,
  InitializeRequest,
  InitializeResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  ResumeSessionRequest,
  ResumeSessionResponse,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
  SetSessionModeResponse,
} from '../../protocol/acp.ts';
import type { PendingInjection } from '../../protocol/harn.ts';
import type {
  PilothouseAgentMethods,
  PilothouseAgentNotifications,
} from '../../protocol/pilothouse.ts';
import type { HistoryMethods } from './history-methods.ts';

/** Messages for a running turn and single calls of it. Source: Harn control extension. */
type InjectMethods = {
  'session/inject': [
    {
      sessionId: string;
      mode: PendingInjection['mode'];
      content: readonly ContentBlock[];
      _meta?: { pilothouse: { commandId: string } };
    },
    { messageId: string; status: string },
  ];
  'session/revoke_inject': [
    { sessionId: string; messageId: string },
    { messageId: string; status: string },
  ];
  'session/replace_inject': [
    { sessionId: string; messageId: string; content: readonly ContentBlock[] },
    { messageId: string; status: string },
  ];
  'session/pending_injections': [
    { sessionId: string },
    { pendingCount: number; injections: readonly PendingInjection[] },
  ];
  'session/cancel_tool_call': [
    {
      sessionId: string;
      toolCallId: string;
      reason?: string;
      /** `loopId`: the delegate whose call it is. */
      _meta?: { pilothouse: { loopId: string } };
    },
    { status: string; callId: string; tool: string | null },
  ];
};

/** Requests the extension sends: method → [params, result]. Source: ACP v1, Harn and `_pilothouse/`. */
export type AgentMethods = PilothouseAgentMethods &
  HistoryMethods &
  InjectMethods & {
    initialize: [InitializeRequest, InitializeResponse];
    'session/new': [NewSessionRequest, NewSessionResponse];
    'session/resume': [ResumeSessionRequest, ResumeSessionResponse];
    'session/list': [ListSessionsRequest, ListSessionsResponse];
    'session/close': [CloseSessionRequest, CloseSessionResponse];
    'session/delete': [DeleteSessionRequest, DeleteSessionResponse];
    'session/prompt': [PromptRequest, PromptResponse];
    'session/set_mode': [SetSessionModeRequest, SetSessionModeResponse];
    'session/set_config_option': [SetSessionConfigOptionRequest, SetSessionConfigOptionResponse];
  };

/** Notifications the extension sends. */
export type AgentNotifications = PilothouseAgentNotifications & {
  'session/cancel': CancelNotification;
};

/** The name of a request the extension sends. */
export type AgentMethod = keyof AgentMethods;
