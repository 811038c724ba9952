import type { InitializeResponse } from '../../protocol/acp.ts';
import { ACP_VERSION, PILOTHOUSE_VERSION } from '../../protocol/versions.ts';
import { extensionMethods } from './extension-desk.ts';
import type { AcpServices } from './types.ts';

/** The name this agent goes by on the wire. */
const AGENT_NAME = 'pilothouse';

/**
 * The answer to `initialize`: the version we speak whatever was asked (ACP v1, initialization: the client leaves if it
 * can't), and what is really there.
 */
export function initializeResult(services: AcpServices): InitializeResponse {
  const { agentVersion, extensions } = services;
  const prompt = services.promptCapabilities ?? { image: true, audio: true, embeddedContext: true };
  return {
    protocolVersion: ACP_VERSION,
    agentInfo: { name: AGENT_NAME, title: 'Pilothouse', version: agentVersion },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: prompt,
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {},
        delete: {},
        resume: {},
        close: {},
        additionalDirectories: {},
      },
      auth: extensions.signOut ? { logout: {} } : {},
      _meta: {
        pilothouse: { version: PILOTHOUSE_VERSION, methods: extensionMethods(extensions) },
        harn: {
          extensionMethods: {
            '_harn/agentEvent': { kinds: ['control_outcome', 'loop_checkpoint'] },
          },
        },
      },
    },
  };
}
