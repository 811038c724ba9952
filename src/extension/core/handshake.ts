import * as z from 'zod/mini';
import { CodedError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { InitializeRequest, InitializeResponse } from '../../protocol/acp.ts';
import type { HostFacts } from '../../protocol/host-link.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import { ACP_VERSION, PILOTHOUSE_VERSION } from '../../protocol/versions.ts';
import type { AgentConnection } from './connection.ts';

const INITIALIZE_TIMEOUT_MS = 20_000;

/** What the agent said of itself. */
export type AgentInfo = {
  readonly version: string;
  /** The process that its sessions live in; null where it does not say. */
  readonly host: AgentHost | null;
};

/** The process that sessions live in, as `initialize` tells it. */
export type AgentHost = Pick<HostFacts, 'pid' | 'version'>;

const HOST = z.looseObject({ pid: z.number(), version: z.string() });

/** What a client can offer an agent. */
export type ClientOffers = {
  /** It reads and writes documents that are open here: their paths are the same for both. */
  readonly documents: boolean;
  /** What is to become of its sessions' work when it goes. */
  readonly onDetach: OnDetach;
};

/** The first request of a connection: what this client can do. */
export function initializeParams(
  version: string,
  { documents, onDetach }: ClientOffers,
): InitializeRequest {
  return {
    protocolVersion: ACP_VERSION,
    clientInfo: { name: 'pilothouse-vscode', title: 'Pilothouse for VS Code', version },
    clientCapabilities: {
      fs: { readTextFile: documents, writeTextFile: documents },
      terminal: false,
      session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
      elicitation: { form: {}, url: {} },
      _meta: { pilothouse: { version: PILOTHOUSE_VERSION, onDetach }, harn: { version: 1 } },
    },
  };
}

/** Agrees on the protocol. Throws `agent.incompatible` if the process speaks another version. */
export async function shakeHands(
  connection: AgentConnection,
  version: string,
  offers: ClientOffers,
): Promise<AgentInfo> {
  const answer = await connection.request('initialize', initializeParams(version, offers), {
    timeoutMs: INITIALIZE_TIMEOUT_MS,
  });
  if (answer.protocolVersion !== ACP_VERSION || !speaksPilothouse(answer))
    throw new CodedError(
      'agent.incompatible',
      'The session host speaks another version of the protocol. Reinstall the extension.',
    );
  return { version: answer.agentInfo?.version ?? '', host: hostOf(answer) };
}

function ownPart(answer: InitializeResponse): Readonly<Record<string, unknown>> {
  const offered = answer.agentCapabilities?._meta?.['pilothouse'];
  return isObject(offered) ? offered : {};
}

function speaksPilothouse(answer: InitializeResponse): boolean {
  return ownPart(answer)['version'] === PILOTHOUSE_VERSION;
}

function hostOf(answer: InitializeResponse): AgentHost | null {
  const parsed = z.safeParse(HOST, ownPart(answer)['host']);
  return parsed.success ? parsed.data : null;
}
