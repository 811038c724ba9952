import type { JsonObject } from './json.ts';

/** What marks our errors. Also those of another file of this product, whose class is not the same object. */
const CODED = Symbol.for('pilothouse.coded');

/**
 * The base of every error this product raises on purpose. `code` is what programs branch on; `message` is what a
 * person reads: what happened and what to do.
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  /** True when the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** Extra facts for programs; never secrets. */
  readonly data: JsonObject;

  constructor(
    code: Code,
    message: string,
    options: { cause?: unknown; retryable?: boolean; data?: JsonObject } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.data = options.data ?? {};
  }

  get [CODED](): true {
    return true;
  }
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error that was raised on purpose, else null. */
export function codeOf(error: unknown): string | null {
  return isCoded(error) ? error.code : null;
}

/**
 * True for an error that was raised on purpose, by whichever of this product's files. The editor loads several of them
 * into one process, each with classes of its own, so `instanceof` holds within one file only.
 */
export function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && CODED in error;
}
