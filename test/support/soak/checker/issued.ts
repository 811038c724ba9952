import type { DurableCommand } from '../../../../src/core/session/commands/command.ts';
import { controlOf, type LoopJournal } from './evidence.ts';

/** What the rules know of a command, whichever form its record has. */
export type Issued = {
  readonly commandId: string;
  readonly type: DurableCommand['type'];
  readonly seq: number;
  readonly bodyHash: string;
  /** Of an inject. */
  readonly messageId?: string;
  /** Of an answer to a question. */
  readonly gateId?: string;
  /** Of a hand-back. */
  readonly requestId?: string;
};

/** Every command of a loop in the order of the records. Prompts and injects of older records are among them. */
export function issuedIn(loop: LoopJournal): readonly Issued[] {
  return loop.control.flatMap(({ event, seq }): Issued[] => {
    switch (event.type) {
      case 'command_issued': {
        const { command, bodyHash } = event;
        return [
          { commandId: command.command_id, type: command.type, seq, bodyHash, ...namedBy(command) },
        ];
      }
      case 'command_accepted':
        return [{ commandId: event.commandId, type: 'user_input', seq, bodyHash: event.bodyHash }];
      case 'inject_accepted': {
        const { messageId, commandId = messageId, bodyHash = '' } = event;
        return [{ commandId, type: 'inject', seq, bodyHash, messageId }];
      }
      default:
        return [];
    }
  });
}

function namedBy(command: DurableCommand): Partial<Issued> {
  switch (command.type) {
    case 'inject':
      return { messageId: command.message_id };
    case 'approve_tool_call':
    case 'deny_tool_call':
    case 'provide_user_input':
      return { gateId: command.gate_id };
    case 'subagent_result':
      return { requestId: command.request_id };
    default:
      return {};
  }
}

/** What a loop holds for later, from its records alone. */
export function heldIn(loop: LoopJournal): ReadonlySet<string> {
  const held = new Set<string>();
  for (const { change } of controlOf(loop, 'queue_changed')) {
    if (change.kind === 'added') held.add(change.itemId);
    else if (change.kind === 'removed' || change.kind === 'sent') held.delete(change.itemId);
  }
  return held;
}
