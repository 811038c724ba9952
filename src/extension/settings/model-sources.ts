import type * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { AgentConnection } from '../core/connection.ts';
import { settings } from './settings.ts';

const PREFIX = 'model-key:';

/** Keys of model sources, in the editor's secret storage. They reach agent-core over its pipe only. */
export class ModelKeys {
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  /** The sources that have a key. */
  async sources(): Promise<string[]> {
    const names = await this.#secrets.keys();
    return names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  }

  async set(source: string, key: string): Promise<void> {
    await this.#secrets.store(PREFIX + source, key);
  }

  async remove(source: string): Promise<void> {
    await this.#secrets.delete(PREFIX + source);
  }

  /** Hands every key to an agent that was just started. */
  async handOver(connection: AgentConnection): Promise<void> {
    for (const source of await this.sources()) {
      const key = await this.#secrets.get(PREFIX + source);
      if (key !== undefined) await connection.request('_pilothouse/secrets/set', { source, key });
    }
  }
}

/** Tells the agent the model sources of the settings; problems go to the log, they never keep a session from starting. */
export async function configureModels(
  connection: AgentConnection,
  log: (message: string) => void,
): Promise<readonly string[]> {
  const defaultModel = settings.defaultModel();
  try {
    const { problems } = await connection.request('_pilothouse/models/configure', {
      providers: [...settings.providers()],
      ...(defaultModel === '' ? {} : { defaultModel }),
    });
    for (const problem of problems) log(`models: ${problem}`);
    return problems;
  } catch (error) {
    log(`models: ${messageOf(error)}`);
    return [messageOf(error)];
  }
}
