import type {
  CancelNotification,
  CloseSessionRequest,
  CloseSessionResponse,
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
import type {
  PilothouseAgentMethods,
  PilothouseAgentNotifications,
} from '../../protocol/pilothouse.ts';

/** Requests the extension sends: method → [params, result]. Source: ACP v1 and `_pilothouse/`. */
export type AgentMethods = PilothouseAgentMethods & {
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
