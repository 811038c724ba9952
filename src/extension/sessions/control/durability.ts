import { messageOf } from '../../../base/errors.ts';
import { type AgentConnection, isAgentRequestError } from '../../core/connection.ts';
import type { PromptEntry } from '../prompt-line.ts';
import { controlError } from './refused.ts';
import { type StoreFault, storeFaultOf } from './store-fault.ts';
import type { Waiting } from './waiting.ts';

/** What a session's durability works with. */
export type DurabilityPorts = {
  readonly sessionId: string;
  readonly connect: () => Promise<AgentConnection>;
  readonly waiting: Waiting;
  readonly changed: () => void;
  readonly log: (message: string) => void;
};

/** What a compaction came to. */
export type Compacted = { readonly beforeMessageCount: number; readonly afterMessageCount: number };

/**
 * What of a session may not be safe on disk: a store that fails, and prompts that the agent may not have taken before
 * it ended. No text of the person's is lost: what the agent does not have comes back.
 */
export class Durability {
  readonly #ports: DurabilityPorts;
  #fault: StoreFault | null = null;
  #lost: PromptEntry[] = [];
  #compacting = false;

  constructor(ports: DurabilityPorts) {
    this.#ports = ports;
  }

  /** Why nothing more is done in this session; null if all is well. */
  get fault(): StoreFault | null {
    return this.#fault;
  }

  /** True while the conversation is condensed because this window asked for it. */
  get isCompacting(): boolean {
    return this.#compacting;
  }

  /** An error of any request about this session: it may tell that the store fails. */
  notice(error: unknown): void {
    const fault = storeFaultOf(error);
    if (fault) this.setFault(fault);
  }

  /** Null: the session was opened again and is saved as before. */
  setFault(fault: StoreFault | null): void {
    if (this.#fault === fault) return;
    this.#fault = fault;
    this.#ports.changed();
  }

  /**
   * A prompt has no answer. `begun`: its turn was under way, so that the agent has it for sure. `lost`: only the next
   * process can tell. `unsent`: the agent did not take it, and it waits here.
   */
  promptFailed(entry: PromptEntry, error: unknown, begun: boolean): 'ended' | 'lost' | 'unsent' {
    this.notice(error);
    if (isGone(error)) {
      if (!begun) this.#lost.push(entry);
      return 'lost';
    }
    if (begun || !storeFaultOf(error)) return 'ended';
    this.#ports.waiting.unsent(entry.commandId, entry.blocks);
    return 'unsent';
  }

  /** Asks a new process about the prompts that the old one did not answer; those it never had come back. */
  async findLost(connection: AgentConnection): Promise<void> {
    const { sessionId, waiting, changed, log } = this.#ports;
    const lost = this.#lost;
    this.#lost = [];
    for (const { commandId, blocks } of lost) {
      try {
        const { state } = await connection.request('_pilothouse/commands/get', {
          sessionId,
          commandId,
        });
        if (state === 'unknown') waiting.unsent(commandId, blocks);
      } catch (error) {
        log(`session ${sessionId}: what became of a prompt is not known: ${messageOf(error)}`);
        if (!isGone(error)) waiting.unsent(commandId, blocks);
      }
    }
    if (lost.length > 0) changed();
  }

  /** Condenses what the model reads. Rejects with a `ControlError` that says why nothing came of it. */
  async compact(): Promise<Compacted> {
    const { sessionId, connect, changed } = this.#ports;
    const connection = await connect();
    this.#compacting = true;
    changed();
    try {
      return await connection.request('_pilothouse/compact', { sessionId }, { timeoutMs: null });
    } catch (error) {
      this.notice(error);
      throw controlError(error);
    } finally {
      this.#compacting = false;
      changed();
    }
  }
}

function isGone(error: unknown): boolean {
  return isAgentRequestError(error) && error.code === 'agent.gone';
}
