import type { Disposable } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { CodedError } from '../../base/errors.ts';
import { type AddedHost, type HostId, type NewHost, parseHosts, placeOf } from './host.ts';

/** Where the list is kept across windows. Never holds a token. */
export type HostStore = {
  readonly load: () => unknown;
  readonly save: (hosts: readonly AddedHost[]) => Promise<void>;
};

/** The editor's secret storage, as far as tokens need it. */
export type Secrets = {
  readonly get: (key: string) => PromiseLike<string | undefined>;
  readonly store: (key: string, value: string) => PromiseLike<void>;
  readonly delete: (key: string) => PromiseLike<void>;
};

/** The hosts that a person added, in the order in which they were added, and their tokens. */
export class HostRegistry implements Disposable {
  readonly #store: HostStore;
  readonly #secrets: Secrets;
  readonly #newId: () => string;
  readonly #changed = new Emitter<void>();
  #hosts: readonly AddedHost[];

  readonly onDidChange = this.#changed.event;

  constructor(store: HostStore, secrets: Secrets, newId: () => string) {
    this.#store = store;
    this.#secrets = secrets;
    this.#newId = newId;
    this.#hosts = parseHosts(store.load());
  }

  all(): readonly AddedHost[] {
    return this.#hosts;
  }

  get(id: HostId): AddedHost | null {
    return this.#hosts.find((host) => host.id === id) ?? null;
  }

  /** Adds a host with its token, if it needs one. Rejects with `host.known` if there is one at that place. */
  async add(host: NewHost, token: string | null): Promise<AddedHost> {
    const known = this.#hosts.find((one) => placeOf(one) === placeOf(host));
    if (known)
      throw new CodedError('host.known', `This host is in the list already: ${known.name}`);
    const added: AddedHost = { ...host, id: this.#newId() };
    if (token !== null) await this.#secrets.store(tokenKey(added.id), token);
    await this.#save([...this.#hosts, added]);
    return added;
  }

  async rename(id: HostId, name: string): Promise<void> {
    await this.#save(this.#hosts.map((host) => (host.id === id ? { ...host, name } : host)));
  }

  /** Takes it off the list with its token. What runs there, and its sessions, stay where they are. */
  async remove(id: HostId): Promise<void> {
    await this.#secrets.delete(tokenKey(id));
    await this.#save(this.#hosts.filter((host) => host.id !== id));
  }

  async token(id: HostId): Promise<string | null> {
    return (await this.#secrets.get(tokenKey(id))) ?? null;
  }

  /** Keeps another token; null removes it. */
  async setToken(id: HostId, token: string | null): Promise<void> {
    if (token === null) await this.#secrets.delete(tokenKey(id));
    else await this.#secrets.store(tokenKey(id), token);
  }

  async #save(hosts: readonly AddedHost[]): Promise<void> {
    this.#hosts = hosts;
    await this.#store.save(hosts);
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

function tokenKey(id: HostId): string {
  return `host-token:${id}`;
}
