import { ModelError, type ModelErrorCode } from '../session/model.ts';

type Verdict = {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly advice: string;
};

const FIXED: Readonly<Record<number, Verdict>> = {
  401: { code: 'model.key_refused', retryable: false, advice: 'Check its key, or set a new one' },
  402: {
    code: 'model.rate_limited',
    retryable: false,
    advice: 'Its credit is used up; add credit there or choose another model',
  },
  403: {
    code: 'model.key_refused',
    retryable: false,
    advice: 'Its key may not use this model; check the key or choose another model',
  },
  404: {
    code: 'model.bad_request',
    retryable: false,
    advice: 'Check that the model exists there and that the base URL is right',
  },
  408: { code: 'model.timeout', retryable: true, advice: 'It took too long; try again' },
  413: {
    code: 'model.context_exceeded',
    retryable: false,
    advice: 'The conversation is too large for it; compact it or start a new session',
  },
  409: { code: 'model.failed', retryable: true, advice: 'Try again' },
  429: {
    code: 'model.rate_limited',
    retryable: true,
    advice: 'Its rate or credit limit is reached; wait, or choose another model',
  },
  503: { code: 'model.overloaded', retryable: true, advice: 'It is overloaded; try again later' },
  504: { code: 'model.overloaded', retryable: true, advice: 'It is overloaded; try again later' },
  529: { code: 'model.overloaded', retryable: true, advice: 'It is overloaded; try again later' },
};

function verdictOf(status: number): Verdict {
  const fixed = FIXED[status];
  if (fixed !== undefined) return fixed;
  if (status >= 500) {
    return { code: 'model.failed', retryable: true, advice: 'The fault is on its side; try again' };
  }
  return {
    code: 'model.bad_request',
    retryable: false,
    advice: 'It did not accept the request; choose another model or check its settings',
  };
}

/**
 * What an HTTP status of a provider means. `detail` is what the provider wrote, without secrets; it is left out
 * where a key was refused, since some providers repeat a part of it.
 */
export function errorForStatus(
  status: number,
  details: { source: string; retryAfterMs?: number | undefined; detail?: string | undefined },
): ModelError {
  const verdict = verdictOf(status);
  const said =
    details.detail === undefined || verdict.code === 'model.key_refused'
      ? ''
      : ` It says: ${details.detail}`;
  return new ModelError(
    verdict.code,
    `The model source "${details.source}" answered with HTTP status ${status}. ${verdict.advice}.${said}`,
    {
      source: details.source,
      retryable: verdict.retryable,
      status,
      retryAfterMs: details.retryAfterMs,
    },
  );
}
