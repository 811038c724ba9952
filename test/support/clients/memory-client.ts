import { CodedError } from '../../../src/base/errors.ts';
import type { Client, Role } from '../../../src/core/host/api.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import type { OnDetach } from '../../../src/protocol/session-clients.ts';

/** A client of a host that notes what it is told and asked. */
export class MemoryClient implements Client {
  readonly key: string;
  readonly actor: Client['actor'];
  readonly title: string | undefined;
  readonly onDetach: OnDetach;
  readonly heard: string[] = [];
  readonly asked: string[] = [];
  canReadFiles = true;
  canWriteFiles = true;
  /** What it says of every document. */
  text: string | null | (() => Promise<string | null>) = null;

  constructor(
    key: string,
    options: {
      readonly ceiling?: Role;
      readonly onDetach?: OnDetach;
      readonly title?: string;
    } = {},
  ) {
    const { ceiling = 'host_owner', onDetach = 'keep', title } = options;
    this.key = key;
    this.actor = { clientId: `client ${key}`, role: ceiling, source: 'acp' };
    this.title = title;
    this.onDetach = onDetach;
  }

  async readTextFile(_sessionId: SessionId, path: string): Promise<string | null> {
    this.asked.push(`read ${path}`);
    return typeof this.text === 'function' ? await this.text() : this.text;
  }

  async writeTextFile(_sessionId: SessionId, path: string, text: string): Promise<boolean> {
    this.asked.push(`write ${path}: ${text}`);
    return (typeof this.text === 'function' ? await this.text() : this.text) !== null;
  }

  roleChanged(_sessionId: SessionId, role: Role, by: Client): void {
    this.heard.push(`${role} by ${by.key}`);
  }

  clientsChanged(): void {
    this.heard.push('clients');
  }
}

/** The failure of a client that vanished while it was asked. */
export function vanished(): Error {
  return new Vanished('client.gone', 'The editor went away before it answered.');
}

class Vanished extends CodedError<'client.gone'> {}
