import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type {
  AuthenticateRequest,
  CancelNotification,
  CloseSessionRequest,
  DeleteSessionRequest,
  InitializeRequest,
  ListSessionsRequest,
  LoadSessionRequest,
  NewSessionRequest,
  PromptRequest,
  ResumeSessionRequest,
  SetSessionConfigOptionRequest,
  SetSessionModeRequest,
} from '../../protocol/acp.ts';
import { RpcError } from '../../protocol/errors.ts';
import * as checks from './generated/schema-checks.mjs';

/** The params of every ACP method an agent answers. Source: ACP v1. */
export type AgentParams = {
  initialize: InitializeRequest;
  authenticate: AuthenticateRequest;
  logout: JsonObject;
  'session/new': NewSessionRequest;
  'session/load': LoadSessionRequest;
  'session/resume': ResumeSessionRequest;
  'session/list': ListSessionsRequest;
  'session/close': CloseSessionRequest;
  'session/delete': DeleteSessionRequest;
  'session/set_mode': SetSessionModeRequest;
  'session/set_config_option': SetSessionConfigOptionRequest;
  'session/prompt': PromptRequest;
  'session/cancel': CancelNotification;
};

/** An ACP method an agent answers. */
export type AgentMethod = keyof AgentParams;

const CHECKS: { readonly [M in AgentMethod]: checks.SchemaCheck } = {
  initialize: checks.initialize,
  authenticate: checks.authenticate,
  logout: checks.logout,
  'session/new': checks.sessionNew,
  'session/load': checks.sessionLoad,
  'session/resume': checks.sessionResume,
  'session/list': checks.sessionList,
  'session/close': checks.sessionClose,
  'session/delete': checks.sessionDelete,
  'session/set_mode': checks.sessionSetMode,
  'session/set_config_option': checks.sessionSetConfigOption,
  'session/prompt': checks.sessionPrompt,
  'session/cancel': checks.sessionCancel,
};

/**
 * The params of a call as its type, or `RpcError` `invalidParams` that names the field. Members that the schema says
 * to ignore when they do not fit (`_meta`, capabilities, annotations) are not looked at: read those with care.
 */
export function checkParams<M extends AgentMethod>(method: M, params: unknown): AgentParams[M] {
  // The schema the types were made from has just been checked.
  return requireValid(CHECKS[method], params ?? {}) as AgentParams[M];
}

/** `value` if it fits, else `RpcError` `invalidParams` with `data.path`, a JSON pointer. */
export function requireValid(check: checks.SchemaCheck, value: unknown): unknown {
  if (check(value)) return value;
  const problem = mostTelling(check.errors ?? []);
  throw badField(problem.path, problem.message);
}

/** A wrong field, by its JSON pointer. */
export function badField(path: string, problem: string, data: JsonObject = {}): RpcError {
  const where = path === '' ? 'params' : path;
  return new RpcError('invalidParams', `Invalid params: ${where} ${problem}`, { path, ...data });
}

/** Keywords that only say that something inside them failed. */
const COMBINERS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'if']);

type Problem = { readonly path: string; readonly message: string };

/** Alternatives report all their failures; the deepest one is where the sender meant to be. */
function mostTelling(errors: readonly checks.SchemaError[]): Problem {
  const problems = errors.filter(({ keyword }) => !COMBINERS.has(keyword)).map(problemOf);
  const depth = ({ path }: Problem): number => path.split('/').length;
  const deepest = Math.max(0, ...problems.map(depth));
  return (
    problems.find((problem) => depth(problem) === deepest) ?? {
      path: errors[0]?.instancePath ?? '',
      message: 'does not fit the schema',
    }
  );
}

function problemOf(error: checks.SchemaError): Problem {
  const { instancePath, keyword, params, message = 'does not fit the schema' } = error;
  if (keyword === 'required')
    return { path: `${instancePath}/${escaped(params['missingProperty'])}`, message: 'is missing' };
  if (keyword === 'discriminator')
    return {
      path: `${instancePath}/${escaped(params['tag'])}`,
      message: 'is missing or not known',
    };
  if (keyword === 'const' || keyword === 'enum')
    return { path: instancePath, message: `must be ${allowed(params)}` };
  return { path: instancePath, message };
}

function allowed(params: { readonly [key: string]: unknown }): string {
  const values = Array.isArray(params['allowedValues'])
    ? params['allowedValues']
    : [params['allowedValue']];
  return values.map((value) => JSON.stringify(value)).join(' or ');
}

function escaped(name: unknown): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The member `name` of a value's `_meta`; empty unless it is an object. */
export function metaOf(
  value: unknown,
  name: 'harn' | 'pilothouse',
): { readonly [key: string]: Json } {
  const meta = isObject(value) ? value['_meta'] : undefined;
  const member = isObject(meta) ? meta[name] : undefined;
  // What came over the wire as JSON is JSON.
  return isObject(member) ? (member as { readonly [key: string]: Json }) : {};
}

/** The one alias that every method takes. Source: Harn session control, methods. */
export function withSessionId(params: unknown): unknown {
  if (!isObject(params) || 'sessionId' in params || !('session_id' in params)) return params;
  return { ...params, sessionId: params['session_id'] };
}
