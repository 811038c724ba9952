import { createHash, timingSafeEqual } from 'node:crypto';
import { RpcError } from '../../../protocol/errors.ts';

/** The keys that open a connection; without any it is open to whoever holds the pipe. */
export type AccessKeys = {
  readonly owner: string | null;
  readonly observer: string | null;
};

export type Role = 'host_owner' | 'observer';

/** The way to sign in that is advertised. Source: Harn session control, authenticate. */
export const API_KEY_METHOD = 'apiKey';

/** What a connection may do at most: nothing until a key was shown where keys are asked for (design §1). */
export class Credential {
  readonly #keys: AccessKeys;
  readonly #most: Role;
  #ceiling: Role | null;

  /** `most`: what no key may widen. */
  constructor(keys: AccessKeys = { owner: null, observer: null }, most: Role = 'host_owner') {
    this.#keys = keys;
    this.#most = most;
    this.#ceiling = keys.owner === null && keys.observer === null ? most : null;
  }

  /** True where a key is asked for. */
  get isAsked(): boolean {
    return this.#keys.owner !== null || this.#keys.observer !== null;
  }

  /** The role that nothing may widen; null before a key was shown. */
  get ceiling(): Role | null {
    return this.#ceiling;
  }

  /** True if the key opens the connection. Takes the same time whatever the key is. */
  show(key: string): boolean {
    const isOwner = isSame(key, this.#keys.owner);
    const isObserver = isSame(key, this.#keys.observer);
    if (!isOwner && !isObserver) return false;
    this.#ceiling = isOwner ? this.#most : 'observer';
    return true;
  }
}

function isSame(given: string, key: string | null): boolean {
  const equal = timingSafeEqual(digest(given), digest(key ?? ''));
  return equal && key !== null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** What is answered before a key was shown. Source: ACP v1, authentication. */
export function keyAsked(): RpcError {
  return new RpcError(
    'authRequired',
    `Authentication required: call authenticate with the method ${API_KEY_METHOD} and the key of this agent.`,
  );
}
