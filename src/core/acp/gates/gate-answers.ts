import { isObject, type JsonObject } from '../../../base/json.ts';
import type {
  CreateElicitationResponse,
  ElicitationSchema,
  RequestPermissionResponse,
} from '../../../protocol/acp.ts';
import { misfitOf } from '../../host/controls/gate-response.ts';
import type { GateAnswer, GateRequest } from '../../session/gate-words.ts';
import * as checks from '../generated/schema-checks.mjs';
import { metaOf, requireValid } from '../params.ts';

/**
 * Reading answers fails closed: what is malformed, unknown or an error is a no. Each returns null where the gate
 * stays open because its answer comes another way; each throws `RpcError` `invalidParams` on a malformed answer.
 */

/** The chosen option, if it is one that was offered. */
export function permissionAnswer(
  request: Extract<GateRequest, { kind: 'permission' }>,
  answer: unknown,
): GateAnswer {
  const response = requireValid(checks.permissionAnswer, answer) as RequestPermissionResponse;
  const { outcome } = response;
  if (outcome.outcome !== 'selected') return { kind: 'declined' };
  const { optionId } = outcome;
  if (!request.options.some((option) => option.optionId === optionId)) return { kind: 'declined' };
  const { note } = metaOf(response, 'pilothouse');
  return { kind: 'selected', optionId, ...(typeof note === 'string' ? { note } : {}) };
}

/** The filled form, if it has what was required. */
export function formAnswer(schema: ElicitationSchema, answer: unknown): GateAnswer {
  const response = requireValid(checks.elicitationAnswer, answer) as CreateElicitationResponse;
  if (response.action !== 'accept') return { kind: 'declined' };
  const content = isObject(response.content) ? (response.content as JsonObject) : {};
  return misfitOf(schema, content) === null ? { kind: 'accepted', content } : { kind: 'declined' };
}

/** Agreeing to open a link is not being signed in: that gate is answered when the sign-in arrives. */
export function linkAnswer(answer: unknown): GateAnswer | null {
  const response = requireValid(checks.elicitationAnswer, answer) as CreateElicitationResponse;
  return response.action === 'accept' ? null : { kind: 'declined' };
}

/** What the extension says came of a sign-in. */
export function signInAnswer(answer: unknown): GateAnswer {
  requireValid(checks.authAnswer, answer);
  const isDone = isObject(answer) && answer['outcome'] === 'done';
  return isDone ? { kind: 'accepted', content: {} } : { kind: 'declined' };
}
