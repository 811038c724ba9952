import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { isObject } from '../../../base/json.ts';
import { ModelError } from '../../session/model.ts';
import { errorForStatus } from '../errors.ts';
import { retryAfterOf } from './retry-after.ts';

/** What is needed to name a failure without giving anything away. */
export type FailureContext = {
  readonly source: string;
  /** Milliseconds since the epoch, for `Retry-After` dates. */
  readonly now: number;
  /** True once the reply's stream was open. */
  readonly streaming: boolean;
  /** Keys and header values; cut out of what a provider says. */
  readonly secrets: readonly string[];
};

/** Error types and codes of the providers' bodies as HTTP statuses, where the real status says less. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  // Anthropic, "errors"
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  // OpenAI, "error codes"
  invalid_api_key: 401,
  model_not_found: 404,
  rate_limit_exceeded: 429,
  server_error: 500,
  server_overloaded: 503,
};

/** An error that a provider reported inside its stream; it need not be an `Error`. */
export class StreamFault extends Error {
  readonly reported: unknown;

  constructor(reported: unknown) {
    super('The provider reported an error in its stream.');
    this.reported = reported;
  }
}

type Facts = {
  readonly status?: number | undefined;
  /** Machine-readable names: types, codes and reasons. */
  readonly names: readonly string[];
  readonly retryDelayMs?: number | undefined;
  readonly message?: string | undefined;
};

/** Any failure of a provider request as a `ModelError`. It decides by classes, statuses and codes, never by texts. */
export function toModelError(error: unknown, context: FailureContext): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof StreamFault) return toModelError(error.reported, context);
  if (APICallError.isInstance(error)) return fromApiCall(error, context);
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) {
    return malformed(context);
  }
  if (InvalidResponseDataError.isInstance(error)) {
    return error.data === undefined ? streamCut(context) : malformed(context);
  }
  const facts = factsOf(error);
  if (facts.status !== undefined || facts.names.length > 0) return fromFacts(facts, context);
  return context.streaming ? streamCut(context) : unreachable(error, context);
}

/** The reply broke off before its end. */
export function streamCut(context: Pick<FailureContext, 'source'>): ModelError {
  return new ModelError(
    'model.stream_cut',
    `The reply of the model source "${context.source}" broke off before its end. Try again.`,
    { source: context.source, retryable: true },
  );
}

function fromApiCall(error: APICallError, context: FailureContext): ModelError {
  const body = factsOf(parseBody(error.responseBody));
  const failed = error.statusCode !== undefined && error.statusCode >= 400;
  if (!failed && body.names.length === 0) {
    return error.statusCode === undefined && !context.streaming
      ? unreachable(error, context)
      : streamCut(context);
  }
  return fromFacts(
    {
      ...body,
      status: failed ? error.statusCode : body.status,
      retryDelayMs: retryAfterOf(error.responseHeaders, context.now) ?? body.retryDelayMs,
    },
    context,
  );
}

function fromFacts(facts: Facts, context: FailureContext): ModelError {
  const { source } = context;
  const detail = said(facts.message, context);
  if (facts.names.includes('context_length_exceeded')) {
    return new ModelError(
      'model.context_exceeded',
      `The conversation is too large for the model source "${source}". Compact it or start a new session.`,
      { source, status: facts.status },
    );
  }
  const status = statusOf(facts);
  return errorForStatus(status, { source, retryAfterMs: facts.retryDelayMs, detail });
}

/** A name is more exact than a status that only says "bad request" or "server error". */
function statusOf({ status, names }: Facts): number {
  if (names.includes('API_KEY_INVALID')) return 401;
  if (names.includes('insufficient_quota')) return 402;
  const named = names
    .map((name) => (Object.hasOwn(STATUS_OF_TYPE, name) ? STATUS_OF_TYPE[name] : undefined))
    .filter((one) => one !== undefined);
  if (status === undefined) return named[0] ?? 500;
  if (status !== 400 && status !== 500) return status;
  return named.find((one) => one !== 400 && one !== 500) ?? status;
}

function parseBody(body: string | undefined): unknown {
  try {
    return body === undefined || body === '' ? undefined : (JSON.parse(body) as unknown);
  } catch {
    return undefined;
  }
}

/** Reads the error objects of all providers: `{error: {…}}` or bare, with `code`, `type`, `status`, `details`. */
function factsOf(value: unknown): Facts {
  const outer = Array.isArray(value) ? (value as unknown[])[0] : value;
  if (!isObject(outer)) return { names: [] };
  const error = isObject(outer['error']) ? outer['error'] : outer;
  const details = Array.isArray(error['details']) ? error['details'].filter(isObject) : [];
  const names = [error['type'], error['code'], ...details.map((detail) => detail['reason'])];
  const message = error['message'];
  return {
    status: [error['code'], error['statusCode'], outer['statusCode']].find(isErrorStatus),
    names: names.filter((name) => typeof name === 'string'),
    retryDelayMs: details
      .map((detail) => seconds(detail['retryDelay']))
      .find((ms) => ms !== undefined),
    message: typeof message === 'string' ? message : undefined,
  };
}

function isErrorStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599;
}

/** A protobuf duration such as `34.5s`, in milliseconds. */
function seconds(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(value) : null;
  return match === null ? undefined : Math.ceil(Number(match[1]) * 1_000);
}

/** What the provider said, short and without secrets. */
function said(message: string | undefined, context: FailureContext): string | undefined {
  if (message === undefined || message.trim() === '') return undefined;
  let text = message.replaceAll(/\s+/g, ' ').trim();
  for (const secret of context.secrets) {
    if (secret.length >= 4) text = text.replaceAll(secret, '…');
  }
  return text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text;
}

function malformed(context: FailureContext): ModelError {
  return new ModelError(
    'model.failed',
    `The model source "${context.source}" sent something that is not part of its protocol. Try again, or check its base URL.`,
    { source: context.source, retryable: true },
  );
}

function unreachable(error: unknown, context: FailureContext): ModelError {
  const code = networkCode(error);
  return new ModelError(
    'model.unreachable',
    `The model source "${context.source}" could not be reached${code === undefined ? '' : ` (${code})`}. Check the network and its base URL.`,
    { source: context.source, retryable: true },
  );
}

/** The system's name of a network failure, such as `ECONNREFUSED`. */
function networkCode(error: unknown): string | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const code: unknown = 'code' in current ? current.code : undefined;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
    current = current.cause;
  }
  return undefined;
}
