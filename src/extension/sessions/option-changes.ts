import type { SessionConfigOption } from '../../protocol/acp.ts';
import type { AgentConnection } from '../core/connection.ts';

/** The changes of a session's options, in the order in which they were chosen. */
export class OptionChanges {
  readonly #sessionId: string;
  readonly #connect: () => Promise<AgentConnection>;
  /** Settles when every option that was chosen so far is in force or refused. */
  #settled: Promise<unknown> = Promise.resolve();

  constructor(sessionId: string, connect: () => Promise<AgentConnection>) {
    this.#sessionId = sessionId;
    this.#connect = connect;
  }

  /** Resolves when all that was chosen before is in force or refused. */
  get settled(): Promise<unknown> {
    return this.#settled;
  }

  /** Changes an option; resolves with all options as they are then, if the agent told them. */
  async set(
    configId: string,
    value: string | boolean,
  ): Promise<readonly SessionConfigOption[] | null> {
    const done = this.#set(configId, value);
    this.#settled = Promise.allSettled([this.#settled, done]);
    return done;
  }

  async #set(
    configId: string,
    value: string | boolean,
  ): Promise<readonly SessionConfigOption[] | null> {
    const connection = await this.#connect();
    const sessionId = this.#sessionId;
    const { configOptions } = await connection.request(
      'session/set_config_option',
      typeof value === 'boolean'
        ? { sessionId, configId, type: 'boolean', value }
        : { sessionId, configId, value },
    );
    return configOptions ?? null;
  }
}
