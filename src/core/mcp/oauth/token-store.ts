import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { Log } from '../../session/ports.ts';
import type { Login } from './login-shape.ts';

/** Keeps logins, by the address of the server they are for. Nothing else may hold tokens. */
export interface TokenStore {
  load(server: string): Promise<Login>;
  save(server: string, login: Login): Promise<void>;
}

const FILE = 'mcp-logins.json';

/**
 * Logins in `mcp-logins.json` of the data folder, which only its owner can read and which tools are kept out of. A
 * file that can't be read counts as empty: the person signs in again.
 */
export class FileTokenStore implements TokenStore {
  readonly #path: string;
  readonly #log: Log;
  #logins: Promise<Map<string, Login>> | null = null;
  #written: Promise<void> = Promise.resolve();

  constructor(dataFolder: string, log: Log) {
    this.#path = join(dataFolder, FILE);
    this.#log = log;
  }

  async load(server: string): Promise<Login> {
    return (await this.#all()).get(server) ?? {};
  }

  async save(server: string, entry: Login): Promise<void> {
    const logins = await this.#all();
    logins.set(server, entry);
    this.#written = this.#written.then(() => this.#write(logins));
    await this.#written;
  }

  #all(): Promise<Map<string, Login>> {
    this.#logins ??= this.#read();
    return this.#logins;
  }

  async #read(): Promise<Map<string, Login>> {
    try {
      const parsed: unknown = JSON.parse(await readFile(this.#path, 'utf8'));
      const { logins } = await import('./login-shape.ts');
      return new Map(Object.entries(logins.parse(parsed)));
    } catch (error) {
      const isNew = isObject(error) && error['code'] === 'ENOENT';
      if (!isNew) this.#log.warn('Stored MCP logins could not be read', { path: this.#path });
      return new Map();
    }
  }

  /** A login that can't be stored still works until this process ends. */
  async #write(logins: ReadonlyMap<string, Login>): Promise<void> {
    const fresh = `${this.#path}.new`;
    try {
      await writeFile(fresh, JSON.stringify(Object.fromEntries(logins)), { mode: 0o600 });
      await rename(fresh, this.#path);
    } catch (error) {
      this.#log.warn('MCP logins could not be stored', { error: messageOf(error) });
    }
  }
}
