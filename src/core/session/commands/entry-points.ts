import type { GateAnswer } from '../gate-words.ts';
import type { ProcessInfo } from '../tool.ts';
import type { CommandId, GateId, LoopId, SessionConfig, Usage } from '../words.ts';
import type { DelegateOutcome } from './command.ts';
import type { CommandOrigin } from './stamp.ts';

/**
 * The ways into a loop besides prompt, inject and cancel. Each stamps id, agency and time and journals its command
 * before anything comes of it; there is no way to hand in a finished command.
 */
export interface LoopEntries {
  /** Resolves when answer and effect are on disk; false if the gate is not open any more: the first answer won. */
  respondToGate(gateId: GateId, answer: PersonsAnswer, origin: CommandOrigin): Promise<boolean>;
  /** Resolves with what came of it; a second one while the first waits gets the same. */
  compact(origin: CommandOrigin): Promise<CompactionOutcome>;
  /** Takes back an input that has not begun. */
  withdraw(commandId: CommandId, origin: CommandOrigin): Promise<'withdrawn' | 'no_op'>;
  /** A background process ended. The same notification again is a duplicate, another of the same id a collision. */
  notifyProcess(info: ProcessInfo): Promise<'accepted' | 'duplicate' | 'collision' | 'stopped'>;
  /** A delegate's request came to its end. Exactly the first one of a request counts. */
  handBack(result: HandBack): Promise<'accepted' | 'duplicate' | 'stopped'>;
  /** Ends one request of this loop (it is a delegate's), waiting or running; others stay. */
  cancelRequest(commandId: CommandId, origin: CommandOrigin): Promise<'noop' | 'queued' | 'active'>;
  /** Changes what the next turn begins with; a refusal is recorded too. */
  changeLoop(change: LoopChange, origin: CommandOrigin): Promise<LoopChanged>;
}

/** An answer that somebody gives; withdrawals are the engine's own. */
export type PersonsAnswer = Exclude<GateAnswer, { kind: 'cancelled' }>;

/** What a compaction came to. */
export type CompactionOutcome =
  | {
      readonly kind: 'compacted';
      readonly beforeMessageCount: number;
      readonly afterMessageCount: number;
    }
  | {
      readonly kind: 'rejected';
      readonly reason:
        | 'nothing_to_gain'
        | 'cancelled'
        | 'summary_failed'
        | 'shutting_down'
        | 'restart';
      readonly message: string;
    };

/** The end of a delegate's request. Its command id is made from `requestId`, so that it is handed back once. */
export type HandBack = {
  readonly requestId: CommandId;
  readonly loopId: LoopId;
  readonly outcome: DelegateOutcome;
  readonly text: string;
  readonly usage: Usage;
  /** False: the tool call that waited for it gives it to the model. */
  readonly background: boolean;
};

/** Options to change; what is missing stays, null takes a judge or a time limit away. */
export type LoopChange = Partial<
  Pick<SessionConfig, 'mode' | 'model' | 'thoughtLevel' | 'budget' | 'checkpoints'>
> & {
  readonly judge?: string | null;
  readonly gateSeconds?: number | null;
};

/** The acknowledgement of a change. */
export type LoopChanged =
  | {
      readonly kind: 'committed';
      /** What the next turn begins with. */
      readonly values: Pick<SessionConfig, 'mode' | 'model' | 'thoughtLevel'>;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };
