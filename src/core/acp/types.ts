import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposables.ts';
import type { Event } from '../../base/emitter.ts';
import type { Ids } from '../../base/ids.ts';
import type { Control } from '../../protocol/controls.ts';
import type { HostFacts } from '../../protocol/host-link.ts';
import type {
  PilothouseAgentMethods,
  PilothouseAgentNotifications,
  PilothouseClientMethods,
  PilothouseClientNotifications,
} from '../../protocol/pilothouse.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import type { FramePort } from '../../protocol/transport/frame-port.ts';
import type { Client, ClientOrigin, ListedSession, SessionHost } from '../host/api.ts';
import type { Log } from '../session/ports.ts';
import type { AccessKeys } from './access/credential.ts';
import type { READ_METHODS } from './control/control-reads.ts';
import type { EVENT_METHODS } from './events/event-desk.ts';

/** What one ACP connection is made of. It owns the port and nothing else. */
export type AcpServices = {
  readonly port: FramePort;
  readonly host: SessionHost;
  readonly extensions: Extensions;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly agentVersion: string;
  /** Keys that the client has to show before it may do anything; missing asks for none. */
  readonly keys?: AccessKeys;
  /** What the client may do at most, whatever key it shows; missing: what its key allows. */
  readonly ceiling?: 'observer';
  /** What the client's process was started with; missing: as this one. */
  readonly origin?: ClientOrigin;
  /** The host that serves it, as the answer to `initialize` tells it. */
  readonly hostFacts?: HostFacts;
  /**
   * What becomes of a client's work when it goes: `keep` goes on with it unless the client says otherwise. `stop`, or
   * missing: the host ends with its client, whatever that says.
   */
  readonly onDetach?: OnDetach;
  /** What prompts may hold besides text and links; all true if missing. */
  readonly promptCapabilities?: {
    readonly image: boolean;
    readonly audio: boolean;
    readonly embeddedContext: boolean;
  };
};

/** A running connection. */
export type AcpConnection = {
  /** Resolves when the client is gone, its sessions were told, and everything was flushed; never rejects. */
  readonly done: Promise<void>;
  /** Ends the connection as if the client had gone. */
  close(): void;
};

/** `_pilothouse/` methods that this room answers by itself from the host. */
export type BuiltInMethod =
  | '_pilothouse/history/page'
  | '_pilothouse/history/hash_at'
  | '_pilothouse/history/verify'
  | '_pilothouse/sessions/search'
  | '_pilothouse/gates/list';

/** `_pilothouse/` methods of controls and of what they act on, answered from the host too. */
export type ControlRoomMethod =
  | Extract<Control, keyof PilothouseAgentMethods>
  | (typeof READ_METHODS)[number]
  | (typeof EVENT_METHODS)[number]
  | '_pilothouse/attach'
  | '_pilothouse/detach'
  | '_pilothouse/claim'
  | '_pilothouse/hand_over'
  | '_pilothouse/clients/list';

/** `_pilothouse/` methods that other rooms answer. Only those given are advertised. */
export type ExtensionHandlers = {
  readonly [M in Exclude<keyof PilothouseAgentMethods, BuiltInMethod | ControlRoomMethod>]?: (
    params: PilothouseAgentMethods[M][0],
    client: ExtensionClient,
  ) => Promise<PilothouseAgentMethods[M][1]>;
};

/** What the composition root adds to a connection. Params are validated before a handler sees them. */
export type Extensions = {
  readonly handlers: ExtensionHandlers;
  /** A client that declared the extension has initialized; the result is disposed when it goes. */
  readonly connected?: (client: ExtensionClient) => Disposable;
  /** Sessions of the host that changed or went, also those no client is attached to. */
  readonly onSessionChanged?: Event<ListedSession>;
  /** The list of models changed: attached sessions tell their options anew. */
  readonly onModelsChanged?: Event<void>;
  readonly onSessionDeleted?: Event<string>;
  /** Forgets stored sign-ins; `logout` is advertised only if this is given. */
  readonly signOut?: () => Promise<void>;
};

/** A connected client as the extension's handlers see it. */
export interface ExtensionClient {
  /** The same client as the host knows it. */
  readonly identity: Client;
  /** Rejects with `PeerRefused`, `PeerGone`, or `RpcError` `requestCancelled`. The answer's shape is not checked. */
  request<M extends keyof PilothouseClientMethods>(
    method: M,
    params: PilothouseClientMethods[M][0],
    signal: AbortSignal,
  ): Promise<unknown>;
  notify<M extends keyof PilothouseClientNotifications>(
    method: M,
    params: PilothouseClientNotifications[M],
  ): void;
  /** `_pilothouse/` notifications from the client, in order; their params are not checked. */
  readonly onNotification: Event<{
    readonly method: keyof PilothouseAgentNotifications;
    readonly params: unknown;
  }>;
  /** Aborts when the client goes. */
  readonly gone: AbortSignal;
}
