import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../../../base/errors.ts';
import type { Role } from '../../../acp/access/credential.ts';
import { WsBindError } from './bind.ts';

const OWNER = 'PILOTHOUSE_WS_TOKEN';
const OBSERVER = 'PILOTHOUSE_WS_OBSERVER_TOKEN';

/** The tokens that open the door, as they were given; null is none. */
export type GivenTokens = { readonly owner: string | null; readonly observer: string | null };

/**
 * Takes the tokens out of the environment, so that no child and no log ever sees them; a file comes before the
 * variable. Throws `ws.bad_file`.
 */
export function takeTokens(environment: NodeJS.ProcessEnv, file: string | null): GivenTokens {
  const owner = tokenOf(environment[OWNER]);
  const observer = tokenOf(environment[OBSERVER]);
  delete environment[OWNER];
  delete environment[OBSERVER];
  return { owner: file === null ? owner : tokenIn(file), observer };
}

function tokenIn(file: string): string {
  let token: string | null;
  try {
    token = tokenOf(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new WsBindError('ws.bad_file', `The token in ${file} can't be read: ${messageOf(error)}`);
  }
  if (token === null) throw new WsBindError('ws.bad_file', `There is no token in ${file}.`);
  return token;
}

/** An empty one is none: it must not let everybody in. */
function tokenOf(text: string | undefined): string | null {
  const token = text?.trim() ?? '';
  return token === '' ? null : token;
}

/** Says what a bearer token lets its client do. */
export class Bearers {
  readonly #owner: Buffer;
  readonly #observer: Buffer | null;

  constructor(tokens: { readonly owner: string; readonly observer: string | null }) {
    this.#owner = digest(tokens.owner);
    this.#observer = tokens.observer === null ? null : digest(tokens.observer);
  }

  /** Of an Authorization header; null if it opens nothing. Takes the same time whatever the token is. */
  roleOf(authorization: string | undefined): Role | null {
    const given = digest(/^bearer +(.+)$/iu.exec(authorization ?? '')?.[1]?.trim() ?? '');
    const isOwner = timingSafeEqual(given, this.#owner);
    const isObserver = this.#observer !== null && timingSafeEqual(given, this.#observer);
    if (isOwner) return 'host_owner';
    return isObserver ? 'observer' : null;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
