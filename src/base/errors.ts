import type { JsonObject } from './json.ts';

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
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error that was raised on purpose, else null. */
export function codeOf(error: unknown): string | null {
  const coded: CodedError | null = error instanceof CodedError ? error : null;
  return coded?.code ?? null;
}
