import type { Clock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { ReadTextFileResponse } from '../../protocol/acp.ts';
import type { Actor } from '../../protocol/controls.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import { PeerGone, PeerRefused, type RpcPeer } from '../../protocol/transport/rpc-types.ts';
import type { Client } from '../host/api.ts';
import type { Log } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import type { Role } from './access/credential.ts';
import type { ClientFacts } from './client-facts.ts';
import * as checks from './generated/schema-checks.mjs';
import { requireValid } from './params.ts';
import type { RoleDesk } from './session/role-desk.ts';

/** How long a client may take to read or write one document, in milliseconds. */
const FILE_DEADLINE_MS = 10_000;

/** The client did not do what it said it could. */
export class ClientFailed extends CodedError<
  'client.timeout' | 'client.bad_answer' | 'client.gone'
> {}

/** What a client needs around it. */
export type AcpClientDeps = {
  readonly key: string;
  readonly peer: RpcPeer;
  readonly facts: () => ClientFacts;
  /** What it may do at most. */
  readonly ceiling: () => Role;
  /** What becomes of its work where it does not say; `stop` leaves it no choice. */
  readonly onDetach: OnDetach;
  /** Where what happens to it in its sessions is told. */
  readonly news: () => Pick<RoleDesk, 'roleChanged' | 'clientsChanged'>;
  readonly clock: Clock;
  readonly log: Log;
};

/** The connected client as its sessions see it. */
export class AcpClient implements Client {
  readonly #deps: AcpClientDeps;

  constructor(deps: AcpClientDeps) {
    this.#deps = deps;
  }

  get key(): string {
    return this.#deps.key;
  }

  get title(): string | undefined {
    return this.#deps.facts().title ?? undefined;
  }

  get onDetach(): OnDetach {
    const { onDetach, facts } = this.#deps;
    return onDetach === 'stop' ? 'stop' : (facts().onDetach ?? 'keep');
  }

  roleChanged(sessionId: SessionId, role: Role, by: Client): void {
    this.#deps.news().roleChanged(sessionId, role, by);
  }

  clientsChanged(sessionId: SessionId): void {
    this.#deps.news().clientsChanged(sessionId);
  }

  get actor(): Actor {
    return { clientId: this.#deps.facts().name, role: this.#deps.ceiling(), source: 'acp' };
  }

  get canReadFiles(): boolean {
    return this.#deps.facts().canReadFiles;
  }

  get canWriteFiles(): boolean {
    return this.#deps.facts().canWriteFiles && this.#deps.ceiling() === 'host_owner';
  }

  async readTextFile(
    sessionId: SessionId,
    path: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (!this.canReadFiles) return null;
    const answer = await this.#ask('fs/read_text_file', { sessionId, path }, signal);
    if (answer === null) return null;
    requireAnswer(checks.readTextFileAnswer, answer.value);
    return (answer.value as ReadTextFileResponse).content;
  }

  async writeTextFile(
    sessionId: SessionId,
    path: string,
    text: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!this.canWriteFiles) return false;
    const params = { sessionId, path, content: text };
    return (await this.#ask('fs/write_text_file', params, signal)) !== null;
  }

  /** Null if the client refused: clients have no common word for a missing file, and the disk tells the truth. */
  async #ask(
    method: string,
    params: object,
    signal: AbortSignal,
  ): Promise<{ value: unknown } | null> {
    const { peer, clock, log } = this.#deps;
    const deadline = new AbortController();
    const answered = new AbortController();
    const timer = clock.sleep(FILE_DEADLINE_MS, answered.signal).then(
      () => deadline.abort(),
      // Woken early because the answer came.
      () => undefined,
    );
    try {
      return {
        value: await peer.request(method, params, AbortSignal.any([signal, deadline.signal])),
      };
    } catch (error) {
      if (error instanceof PeerRefused) {
        log.debug('The client refused a document', { method, message: error.message });
        return null;
      }
      if (error instanceof PeerGone)
        throw new ClientFailed('client.gone', 'The editor went away before it answered.');
      if (deadline.signal.aborted && !signal.aborted)
        throw new ClientFailed(
          'client.timeout',
          `The editor did not answer ${method} within ${FILE_DEADLINE_MS / 1000} seconds.`,
          { retryable: true },
        );
      throw error;
    } finally {
      answered.abort();
      await timer;
    }
  }
}

function requireAnswer(check: checks.SchemaCheck, value: unknown): void {
  try {
    requireValid(check, value);
  } catch (error) {
    throw new ClientFailed(
      'client.bad_answer',
      'The editor sent an answer that is not valid ACP.',
      {
        cause: error,
      },
    );
  }
}
