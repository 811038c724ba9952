import type { JsonObject } from '../../../base/json.ts';
import type { CommandState, ListedLoop } from '../../../protocol/pilothouse.ts';
import type { CheckpointFiles } from '../../session/control-events.ts';
import type { ControlTarget } from './api.ts';

/**
 * Controls that came with durable commands; each leaves one receipt. A missing loop is the active one. All throw
 * `unknown_session`, those with a loop `unknown_loop`.
 */
export interface DurableControls {
  /** Resolves when it is done. Throws `nothing_to_gain`, `failed`, `cancelled`. */
  compact(
    target: ControlTarget,
    request: { readonly loopId?: string; readonly commandId?: string },
  ): Promise<{ readonly beforeMessageCount: number; readonly afterMessageCount: number }>;
  /** Resolves when the answer is on disk. Throws `unknown_gate` (also for one that was answered) and `invalid_answer`. */
  respondToGate(target: ControlTarget, response: GateResponse): Promise<void>;
  /** `no_op`: it began, ended, or never was. */
  withdraw(target: ControlTarget, commandId: string): Promise<'withdrawn' | 'no_op'>;
  activateLoop(target: ControlTarget, loopId: string): Promise<void>;
  messageDelegate(
    target: ControlTarget,
    request: { readonly loopId: string; readonly text: string; readonly commandId?: string },
  ): Promise<{ readonly requestId: string; readonly delivery: 'steered' | 'started' }>;
  /** False if it did nothing. */
  stopDelegate(target: ControlTarget, loopId: string): Promise<boolean>;
  /** Keeps the workspace's files; a repeat of a command id gets what was kept then. Throws `failed` where that can't be. */
  createCheckpoint(
    target: ControlTarget,
    request?: { readonly commandId?: string },
  ): Promise<{ readonly checkpointId: string; readonly files: CheckpointFiles }>;
  /** A read. */
  command(sessionId: string, commandId: string): Promise<CommandState>;
  /** A read: parents before children. */
  loops(
    sessionId: string,
  ): Promise<{ readonly activeLoopId: string; readonly loops: readonly ListedLoop[] }>;
}

/** An answer to a gate, before it is matched with what the gate asks. */
export type GateResponse = {
  readonly gateId: string;
  readonly optionId?: string;
  readonly content?: JsonObject;
  readonly decline?: boolean;
  readonly note?: string;
  /** Makes a repeat safe. */
  readonly commandId?: string;
};
