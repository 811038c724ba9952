/**
 * What a door and the host of a data folder say to each other before the frames of a client: one line of JSON each
 * way over the local socket. Behind the welcome to `connect` come ACP frames, one a line.
 */

/** The version of this exchange; a host and a door of different ones can't talk. */
export const HOST_LINK_VERSION = 1;

/** What a door wants: to bring a client, to know how the host is, or to end it (at all, or only if it is idle). */
export type HostAsk = 'connect' | 'status' | 'stop' | 'step_down';

/** The door's line. */
export type HostHello = {
  readonly link: typeof HOST_LINK_VERSION;
  /** From the endpoint file: who can read it may control the host. */
  readonly token: string;
  readonly asks: HostAsk;
  /** Of the door's program. */
  readonly version: string;
  /** Of a client that connects. */
  readonly client?: HostClientSide;
};

/** What a client's process was started with, and what its sessions therefore get. Never stored, never logged. */
export type HostClientSide = {
  /** The model of its new sessions; null: the host's own choice. */
  readonly model: string | null;
  /** Keys that the client has to show; null asks for none. */
  readonly keys: { readonly owner: string | null; readonly observer: string | null };
  /** What the children of sessions that it makes or opens first see. */
  readonly environment: { readonly [name: string]: string };
  /** True for a client that came over a network: keys of models are not taken from its environment. */
  readonly remote?: boolean;
  /** What it may do at most; missing: everything that its keys open. */
  readonly ceiling?: 'observer';
};

/** The host's line. A host that ends refuses with `host.closing`, one that is busy does not step down. */
export type HostWelcome =
  | {
      readonly ok: true;
      readonly link: typeof HOST_LINK_VERSION;
      readonly pid: number;
      readonly version: string;
      /** Milliseconds since 1970. */
      readonly startedAt: number;
      readonly sessions: number;
      readonly clients: number;
    }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Where the host of a data folder is: the content of its endpoint file, for its owner's eyes only. */
export type HostEndpoint = {
  readonly link: number;
  readonly pid: number;
  /** Start of the process in clock ticks since boot, where the system tells. */
  readonly startTicks: string | null;
  readonly bootId: string | null;
  readonly version: string;
  /** Path of a local socket or name of a pipe. */
  readonly endpoint: string;
  readonly token: string;
};

/** What the answer to `initialize` says of the host, under `_meta.pilothouse.host`. */
export type HostFacts = {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
  /** True where it lives in the process of its one client and ends with it. */
  readonly inProcess: boolean;
};
