import { isObject } from '../../../base/json.ts';
import type { ParsedFrame, WireId } from '../../../protocol/transport/message.ts';
import type { Role } from '../../acp/access/credential.ts';

type Request = Extract<ParsedFrame, { kind: 'request' }>;
type Answer = Extract<ParsedFrame, { kind: 'result' | 'error' }>;

/** What an answer that is awaited changes. */
type Change = {
  readonly kind: 'join' | 'leave';
  readonly sessionId: string | null;
  readonly role: Role;
};

const OPENING = new Set(['session/load', 'session/resume', '_pilothouse/attach']);
const MAKING = new Set(['session/new', 'session/fork']);
const LEAVING = new Set(['session/close', 'session/stop', 'session/delete', '_pilothouse/detach']);

/** Which sessions a client follows, and as what, by what it asked and was answered. */
export class SessionLedger {
  readonly #ceiling: Role;
  readonly #roles = new Map<string, Role>();
  readonly #awaited = new Map<string, Change>();

  constructor(ceiling: Role) {
    this.#ceiling = ceiling;
  }

  /** True while a session is followed or is about to be. */
  get isNeeded(): boolean {
    return this.#roles.size > 0 || [...this.#awaited.values()].some(({ kind }) => kind === 'join');
  }

  /** The role in a session, also one that is about to be taken; undefined if it follows none of that id. */
  roleIn(sessionId: string): Role | undefined {
    const joining = [...this.#awaited.values()].find(
      (change) => change.kind === 'join' && change.sessionId === sessionId,
    );
    return this.#roles.get(sessionId) ?? joining?.role;
  }

  /** The client asks something. */
  asked({ id, method, params }: Request): void {
    const sessionId = sessionIdOf(params);
    if (LEAVING.has(method))
      this.#awaited.set(keyOf(id), { kind: 'leave', sessionId, role: this.#ceiling });
    else if (method === '_pilothouse/claim')
      this.#awaited.set(keyOf(id), { kind: 'join', sessionId, role: 'host_owner' });
    else if (OPENING.has(method) || MAKING.has(method)) {
      const role = this.#ceiling === 'observer' ? 'observer' : wantedRole(method, params);
      const named = OPENING.has(method) ? sessionId : null;
      this.#awaited.set(keyOf(id), { kind: 'join', sessionId: named, role });
    }
  }

  /** The client is answered. */
  answered(answer: Answer): void {
    const change = this.#awaited.get(keyOf(answer.id));
    if (change === undefined) return;
    this.#awaited.delete(keyOf(answer.id));
    if (answer.kind === 'error') return;
    const sessionId = change.sessionId ?? sessionIdOf(answer.result);
    if (sessionId === null) return;
    if (change.kind === 'leave') this.#roles.delete(sessionId);
    else this.#roles.set(sessionId, change.role);
  }

  /** The client is told something. */
  told(method: string, params: unknown): void {
    const sessionId = sessionIdOf(params);
    if (sessionId === null) return;
    if (method === '_pilothouse/session_deleted') this.#roles.delete(sessionId);
    if (method === '_pilothouse/role_changed' && this.#roles.has(sessionId) && isObject(params))
      this.#roles.set(sessionId, params['role'] === 'observer' ? 'observer' : 'host_owner');
  }
}

/** The role that a call wants: it may only narrow. Source: Harn session control, actors. */
export function wantedRole(method: string, params: unknown): Role {
  if (!isObject(params)) return 'host_owner';
  const meta = isObject(params['_meta']) ? params['_meta']['harn'] : undefined;
  const direct = params['_harn'];
  const said = isObject(direct) ? direct : isObject(meta) ? meta : {};
  const actor = isObject(said['actor']) ? said['actor'] : {};
  const role = method === '_pilothouse/attach' ? params['role'] : actor['role'];
  return role === 'observer' ? 'observer' : 'host_owner';
}

/** True for a request that makes its client follow a session. */
export function opensSession(method: string): boolean {
  return OPENING.has(method);
}

/** The session that params or a result name. */
export function sessionIdOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  const id = value['sessionId'] ?? value['session_id'];
  return typeof id === 'string' ? id : null;
}

/** An id as a key: `1` and `"1"` differ. */
export function keyOf(id: WireId): string {
  return JSON.stringify(id);
}
