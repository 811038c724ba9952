import * as l10n from '@vscode/l10n';
import { CodedError, isCoded, messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { type AgentRequestError, isAgentRequestError } from '../../core/connection.ts';

/** A control that the agent refused: nothing has changed. The message says what to do. */
export class ControlError extends CodedError<'control.refused'> {
  /** The agent's word for why, of a closed list. */
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super('control.refused', message, { cause });
    this.reason = reason;
  }
}

/** The agent's word for why it refused a control; null for every other error. Holds across the product's files. */
export function refusalOf(error: unknown): string | null {
  if (!isControlError(error)) return null;
  return error.reason;
}

function isControlError(error: unknown): error is ControlError {
  return isCoded(error) && error.code === 'control.refused';
}

/** The error of a control as the person should see it. */
export function controlError(error: unknown): unknown {
  if (!isAgentRequestError(error) || error.code !== 'agent.refused') return error;
  const reason = reasonOf(error);
  return new ControlError(reason, wordsOf(reason) ?? messageOf(error), error);
}

/** An idle session names its reasons in a list, all else one word. */
function reasonOf({ details }: AgentRequestError): string {
  if (!isObject(details)) return 'failed';
  const { reason, reasons, status } = details;
  if (Array.isArray(reasons) && typeof reasons[0] === 'string') return reasons[0];
  // What moves the history says it as a status.
  return [reason, status].find((word) => typeof word === 'string') ?? 'failed';
}

function wordsOf(reason: string): string | null {
  switch (reason) {
    case 'no_active_prompt':
      return l10n.t('No turn is running. Send it as a prompt, or queue it for the next turn.');
    case 'already_delivered':
      return l10n.t('The agent has read this message already. Steer again to correct it.');
    case 'already_revoked':
      return l10n.t('This message was taken back already.');
    case 'unknown_message_id':
    case 'unknown_item':
      return l10n.t('This message does not wait any more.');
    case 'not_owner_or_not_authorized':
      return l10n.t('Another client sent this message; only it or an owner may change it.');
    case 'observer_may_not_control':
      return l10n.t('This window may only watch the session.');
    case 'invalid_content':
      return l10n.t('The message is empty. Write something first.');
    case 'nothing_to_gain':
      return l10n.t('There is nothing to condense yet: the conversation is short.');
    case 'unknown_tool_call':
      return l10n.t('This step has ended already.');
    default:
      return historyWords(reason);
  }
}

function historyWords(reason: string): string | null {
  switch (reason) {
    case 'prompt_active':
      return l10n.t('A turn is running. Stop it first, then try again.');
    case 'no_redo':
      return l10n.t('There is nothing to redo. A new turn or a kept edit ends what can be redone.');
    case 'no_checkpoint':
      return l10n.t('There is nothing to go back to yet. A finished turn leaves something.');
    case 'unknown_checkpoint':
      return l10n.t('This state is not kept any more. Choose another message to go back to.');
    case 'fs_snapshot_error':
      return l10n.t('The files as they are now could not be kept, so nothing was changed.');
    case 'fs_restore_error':
      return l10n.t(
        'The files could not be put back, so nothing was changed. Is one of them open elsewhere, read-only, or changed since?',
      );
    case 'not_staged':
      return l10n.t('This file is not staged any more.');
    default:
      return null;
  }
}
