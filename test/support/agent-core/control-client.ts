import type { ControlOutcome } from '../../../src/protocol/controls.ts';
import type { AcpTestClient } from '../acp-client/client.ts';
import { answering, startAgentCore, tempFolder } from './agent-core.ts';

/** A client of the built process that knows the control extension, with one session. */
export type ControlClient = {
  readonly client: AcpTestClient;
  readonly sessionId: string;
  readonly folder: string;
  /** Every receipt received so far, oldest first. */
  readonly receipts: () => readonly ControlOutcome[];
  /** Receipts as `method outcome status`. */
  readonly outcomes: () => readonly string[];
  /** Seams that delivered something or dropped a batch, as `seam delivered skipped`. */
  readonly seams: () => readonly string[];
  readonly inject: (mode: string, text: string) => Promise<Record<string, unknown>>;
};

/** What a client says that knows both extensions. */
export const KNOWS_CONTROL = { _meta: { harn: {}, pilothouse: { version: 1 } } };

/** The rehearsal model without the time that it takes to stream. */
export const INSTANT = { PILOTHOUSE_MODEL: 'rehearsal/instant' };

/** Starts agent-core and a session in a new folder; everything that is asked is allowed. */
export async function controlClient(
  options: { home?: string; mode?: string; capabilities?: object; env?: NodeJS.ProcessEnv } = {},
): Promise<ControlClient> {
  const home = options.home ?? tempFolder('home');
  const client = answering(startAgentCore(home, { env: options.env ?? {} }), 'allow_once');
  await client.initialize(options.capabilities ?? KNOWS_CONTROL);
  const folder = tempFolder('work');
  const sessionId = await client.newSession(folder);
  const modeId = options.mode ?? 'code';
  await client.call('session/set_mode', { sessionId, modeId });
  return { sessionId, folder, ...controlsOf(client, sessionId) };
}

/** The same view of a session that another client opened. */
export function controlsOf(
  client: AcpTestClient,
  sessionId: string,
): Omit<ControlClient, 'sessionId' | 'folder'> {
  const events = (kind: string): readonly Record<string, unknown>[] =>
    client
      .calls('_harn/agentEvent')
      .map((message) => message['params'] as Record<string, unknown>)
      .filter((params) => params['kind'] === kind);
  const receipts = (): readonly ControlOutcome[] =>
    events('control_outcome') as unknown as readonly ControlOutcome[];
  return {
    client,
    receipts,
    outcomes: () =>
      receipts().map(({ method, outcome, status }) => `${method} ${outcome} ${status}`),
    seams: () =>
      events('loop_checkpoint')
        .filter(({ delivered, dispatch_skipped }) => delivered !== 0 || dispatch_skipped === true)
        .map(({ seam, delivered, dispatch_skipped }) =>
          [seam, delivered, dispatch_skipped].map(String).join(' '),
        ),
    inject: (mode, text) =>
      client.call('session/inject', { sessionId, mode, content: [{ type: 'text', text }] }),
  };
}
