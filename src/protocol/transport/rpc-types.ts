import { CodedError } from '../../base/errors.ts';
import type { Merge } from './outbound-queue.ts';

/** A call as it arrived. `requestId` is this side's own number for it, never reused; absent on notifications. */
export type ArrivedCall = {
  readonly requestId?: number;
  readonly method: string;
  readonly params: unknown;
};

/** A request to answer. `signal` aborts when the peer takes it back by `$/cancel_request`. */
export type IncomingRequest = {
  readonly requestId: number;
  readonly method: string;
  readonly params: unknown;
  readonly signal: AbortSignal;
};

/** An answer; `after` runs when it has been handed to the port, before anything else is sent. */
export type Reply = { readonly result: object; readonly after?: () => void };

/** What a peer does with what arrives. */
export interface RpcHandlers {
  /**
   * Called for every call the moment it is read, in order of arrival, before it is queued behind others. True means
   * that a notification has been dealt with and is not to be queued.
   */
  arrived?(call: ArrivedCall): boolean;
  /** Throws `RpcError` for an exact code; anything else becomes an internal error. */
  request(request: IncomingRequest): Promise<Reply>;
  notification(method: string, params: unknown): void;
  /** The peer sends no more. What it asked before is still answered until `close()`. */
  ended(): void;
}

/** How a peer behaves. */
export type RpcPeerOptions = {
  /** Milliseconds, for the limit on answers to garbage. */
  readonly now: () => number;
  readonly log: RpcLog;
  /** False where garbage is only logged: a client does not lecture its agent. */
  readonly answersGarbage: boolean;
  readonly merge?: Merge;
  readonly maxQueuedChars?: number;
};

/** Where a peer reports what it can't tell anyone else. */
export interface RpcLog {
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** One side of a JSON-RPC connection. */
export interface RpcPeer {
  /** Begins to read; what arrived earlier comes first. Call it once, when the handlers are ready. */
  start(): void;
  /** Rejects with `PeerRefused`, `PeerGone`, or `RpcError` `requestCancelled` as soon as `signal` aborts. */
  request(method: string, params: object, signal?: AbortSignal): Promise<unknown>;
  /** `extra` are members of the message itself, next to `params`. */
  notify(method: string, params: object, extra?: object): void;
  /** True while the other side does not read what it was sent. */
  readonly isBehind: boolean;
  /** How many characters wait for it. */
  readonly queuedChars: number;
  /** Resolves when it has taken everything that was sent, or takes nothing any more; never rejects. */
  taken(): Promise<void>;
  /** Resolves when every request that arrived so far has been answered. */
  idle(): Promise<void>;
  /** Sends what is left and ends. Requests of the peer still unanswered stay so; our own reject with `PeerGone`. */
  close(): void;
  /** Resolves when the port has ended in both directions; never rejects. */
  readonly done: Promise<void>;
}

/** The peer answered a request with an error. */
export class PeerRefused extends CodedError<'rpc.refused'> {
  readonly rpcCode: number;
  /** The error's `data` as sent. */
  readonly details: unknown;

  constructor(rpcCode: number, message: string, details: unknown) {
    super('rpc.refused', message);
    this.rpcCode = rpcCode;
    this.details = details;
  }
}

/** The connection ended before an answer came. */
export class PeerGone extends CodedError<'rpc.gone'> {
  constructor() {
    super('rpc.gone', 'The connection ended before the answer came.');
  }
}
