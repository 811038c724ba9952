import type { Clock } from '../../base/clock.ts';
import type { SessionUpdate } from '../../protocol/acp.ts';
import type { DelegateToChat } from '../../protocol/chat-delegates.ts';
import type { ChatChange } from '../chat/model/conversation.ts';
import type { AgentConnection } from '../core/connection.ts';
import type { LiveReceipt } from './control/receipts.ts';

/** What a session that is open here needs from outside. */
export type LiveSessionPorts = {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: (message: string) => void;
  /** The connection with this session attached to it. */
  readonly connect: () => Promise<AgentConnection>;
  /** Answers every open gate of the session `cancelled`. */
  readonly cancelGates: () => void;
};

/** How a session hangs on a connection. */
export type Attachment =
  | { readonly kind: 'none' }
  /** Updates wait until the newest page of the history is in. */
  | { readonly kind: 'attaching'; readonly waiting: { update: SessionUpdate; meta: unknown }[] }
  | { readonly kind: 'attached'; readonly connection: AgentConnection };

/** What happened to a session. */
export type LiveChange =
  | { readonly kind: 'chat'; readonly changes: readonly ChatChange[] }
  /** The conversation was laid anew: whoever shows it starts over. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'status' }
  | { readonly kind: 'turn_ended'; readonly stopReason: string; readonly failed: boolean }
  | { readonly kind: 'stop_overdue' }
  /** Its delegates, or what one of them does, changed. */
  | { readonly kind: 'delegates' }
  /** Rows of a delegate that the chat shows. */
  | { readonly kind: 'delegate_rows'; readonly message: DelegateToChat }
  /** A control of this session was answered, here or elsewhere. */
  | { readonly kind: 'receipt'; readonly receipt: LiveReceipt };
