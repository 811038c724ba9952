import { CodedError, isCoded } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';

/** JSON-RPC and ACP error codes in use. Source: JSON-RPC 2.0 §5.1, ACP v1, Harn control extension. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  requestCancelled: -32800,
  authRequired: -32000,
  /** A control that could not be carried out as things stand. Source: Harn session control, error codes. */
  runtimeFailure: -32000,
  resourceNotFound: -32002,
  noSuchSession: -32004,
} as const;

/** The name of an RPC code. */
export type RpcCodeName = keyof typeof RPC_CODES;

/** An error that goes to the peer as it is: its message and data are safe to show. */
export class RpcError extends CodedError<RpcCodeName> {
  /** The number on the wire. */
  readonly rpcCode: number;

  constructor(name: RpcCodeName, message: string, data: JsonObject = {}, cause?: unknown) {
    super(name, message, { data, ...(cause === undefined ? {} : { cause }) });
    this.rpcCode = RPC_CODES[name];
  }
}

/** True for an `RpcError`, also one that another file of this product has raised. */
export function isRpcError(error: unknown): error is RpcError {
  return isCoded(error) && Object.hasOwn(RPC_CODES, error.code) && 'rpcCode' in error;
}
