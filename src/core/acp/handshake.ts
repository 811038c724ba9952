import type { InitializeResponse } from '../../protocol/acp.ts';
import { CONTROLS } from '../../protocol/controls.ts';
import { ACP_VERSION, PILOTHOUSE_VERSION } from '../../protocol/versions.ts';
import { API_KEY_METHOD } from './access/credential.ts';
import { extensionMethods } from './extension-desk.ts';
import type { AcpServices } from './types.ts';

/** The name this agent goes by on the wire. */
export const AGENT_NAME = 'pilothouse';

/** What Harn's clients find under `agentCapabilities.session`. Source: Harn session control, initialize. */
const SESSION_CONTROL = {
  inject: {
    modes: ['queue', 'steer', 'interrupt_immediate'],
    pending: { list: true, revoke: true, replace: true },
  },
  remind: {
    modes: ['interrupt_immediate', 'finish_step', 'audit_only'],
    pending: { list: true, revoke: true },
  },
} as const;

const HARN = {
  sessionUpdateExtensions: [
    'user_message',
    'session_rollback',
    'session_redo',
    'session_truncated',
    'progress',
  ],
  toolLifecycleExtensionFields: ['errorCategory', 'status'],
  extensionMethods: {
    '_harn/agentEvent': {
      description: 'What happens in a session that ACP has no update for',
      kinds: ['control_outcome', 'loop_checkpoint', 'judge_decision', 'budget_exhausted'],
    },
    'harn.session_view.query': {
      description: 'What a session has done and what it waits for',
      schema: 'harn.session_view.v1',
      schemaVersion: 1,
    },
    ...methods(
      ...CONTROLS.filter((control) => !control.startsWith('_pilothouse/')),
      'harn.session_rollback',
      'harn.session_redo',
      'session/pending_injections',
    ),
  },
} as const;

function methods(...names: readonly string[]): { readonly [name: string]: object } {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

/**
 * The answer to `initialize`: the version we speak whatever was asked (ACP v1, initialization: the client leaves if it
 * can't), and what is really there. `isKeyAsked`: nothing is answered before a key was shown.
 */
export function initializeResult(services: AcpServices, isKeyAsked: boolean): InitializeResponse {
  const { agentVersion, extensions, hostFacts } = services;
  const prompt = services.promptCapabilities ?? { image: true, audio: true, embeddedContext: true };
  const capabilities = {
    loadSession: true,
    promptCapabilities: prompt,
    mcpCapabilities: { http: true, sse: true },
    session: SESSION_CONTROL,
    sessionCapabilities: {
      list: {},
      delete: {},
      resume: {},
      close: {},
      additionalDirectories: {},
      fork: {},
      rollback: {},
      redo: {},
    },
    auth: extensions.signOut ? { logout: {} } : {},
    _meta: {
      pilothouse: {
        version: PILOTHOUSE_VERSION,
        methods: extensionMethods(extensions),
        ...(hostFacts === undefined ? {} : { host: hostFacts }),
      },
      harn: HARN,
    },
  };
  return {
    protocolVersion: ACP_VERSION,
    agentInfo: { name: AGENT_NAME, title: 'Pilothouse', version: agentVersion },
    authMethods: isKeyAsked ? [KEY] : [],
    agentCapabilities: capabilities,
  };
}

const KEY = {
  id: API_KEY_METHOD,
  name: 'API key',
  description: 'The key that this agent was started with, as _meta.harn.apiKey',
} as const;
