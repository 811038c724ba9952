import * as l10n from '@vscode/l10n';
import { CONTROLS, type Control } from '../../protocol/controls.ts';

/** What a control asks for, in plain words. */
export function controlWords(method: string): string {
  const words = isControl(method) ? WORDS[method]() : method;
  return words;
}

/** All controls with their words, for a filter. */
export function controlChoices(): { value: string; label: string }[] {
  return CONTROLS.map((value) => ({ value, label: WORDS[value]() })).sort((a, b) =>
    a.label.localeCompare(b.label),
  );
}

function isControl(method: string): method is Control {
  return Object.hasOwn(WORDS, method);
}

const WORDS: Readonly<Record<Control, () => string>> = {
  'session/cancel': () => l10n.t('Stop'),
  'session/close': () => l10n.t('Close the session'),
  'session/delete': () => l10n.t('Delete the session'),
  'session/set_mode': () => l10n.t('Change the mode'),
  'session/set_config_option': () => l10n.t('Change an option'),
  'session/inject': () => l10n.t('Send a message into the turn'),
  'session/revoke_inject': () => l10n.t('Take a pending message back'),
  'session/replace_inject': () => l10n.t('Change a pending message'),
  'session/remind': () => l10n.t('Remind the agent'),
  'session/revoke_reminder': () => l10n.t('Take a reminder back'),
  'session/cancel_tool_call': () => l10n.t('Stop one step'),
  'session/rollback': () => l10n.t('Roll back'),
  'session/redo': () => l10n.t('Redo'),
  'session/fork': () => l10n.t('Fork'),
  'session/truncate': () => l10n.t('Remove messages'),
  'session/fs_mode': () => l10n.t('Change whether edits are staged'),
  'session/fs_commit_staged': () => l10n.t('Keep staged edits'),
  'session/fs_discard_staged': () => l10n.t('Discard staged edits'),
  'session/restore_tool_call': () => l10n.t('Restore the files of a step'),
  '_pilothouse/compact': () => l10n.t('Condense the conversation'),
  '_pilothouse/gates/respond': () => l10n.t('Answer a question'),
  '_pilothouse/commands/withdraw': () => l10n.t('Take back what has not begun'),
  '_pilothouse/loops/activate': () => l10n.t('Choose who gets the next message'),
  '_pilothouse/delegates/message': () => l10n.t('Send a message to a delegate'),
  '_pilothouse/delegates/stop': () => l10n.t('Stop a delegate'),
  '_pilothouse/checkpoints/create': () => l10n.t('Keep the files as they are'),
  '_pilothouse/staged/edit': () => l10n.t('Keep or discard part of a staged file'),
  '_pilothouse/checkpoints/restore': () => l10n.t('Restore files'),
  '_pilothouse/queue/add': () => l10n.t('Queue for a later turn'),
  '_pilothouse/queue/edit': () => l10n.t('Change a queued message'),
  '_pilothouse/queue/move': () => l10n.t('Reorder the queue'),
  '_pilothouse/queue/remove': () => l10n.t('Remove from the queue'),
  '_pilothouse/queue/pause': () => l10n.t('Pause the queue'),
  '_pilothouse/queue/resume': () => l10n.t('Resume the queue'),
  '_pilothouse/queue/send_now': () => l10n.t('Send a queued message now'),
};

/** What happened, in plain words; an outcome nobody listed is shown with spaces for underscores. */
export function outcomeWords(outcome: string): string {
  return OUTCOMES.get(outcome)?.() ?? outcome.replaceAll('_', ' ');
}

const OUTCOMES: ReadonlyMap<string, () => string> = new Map([
  ['accepted', () => l10n.t('accepted')],
  ['cancelled', () => l10n.t('stopped')],
  ['already_cancelled', () => l10n.t('nothing was running')],
  ['rejected', () => l10n.t('refused')],
  ['revoked', () => l10n.t('taken back')],
  ['already_revoked', () => l10n.t('was taken back already')],
  ['replaced', () => l10n.t('changed')],
  ['given_back', () => l10n.t('given back')],
  ['rolled_back', () => l10n.t('rolled back')],
  ['redone', () => l10n.t('redone')],
  ['forked', () => l10n.t('forked')],
  ['truncated', () => l10n.t('removed')],
  ['restored', () => l10n.t('put back')],
  ['committed', () => l10n.t('written to the files')],
  ['discarded', () => l10n.t('discarded')],
  ['closed', () => l10n.t('closed')],
  ['deleted', () => l10n.t('deleted')],
  ['changed', () => l10n.t('changed')],
  ['edited', () => l10n.t('changed')],
  ['unchanged', () => l10n.t('it was so already')],
  ['already_closed', () => l10n.t('was closed already')],
  ['staged', () => l10n.t('edits wait for a review')],
  ['immediate', () => l10n.t('edits are written at once')],
  ['compacted', () => l10n.t('condensed')],
  ['answered', () => l10n.t('answered')],
  ['withdrawn', () => l10n.t('taken back')],
  ['no_op', () => l10n.t('there was nothing to take back')],
  ['activated', () => l10n.t('chosen')],
  ['steered', () => l10n.t('sent into its turn')],
  ['started', () => l10n.t('begun')],
  ['stopped', () => l10n.t('stopped')],
  ['already_stopped', () => l10n.t('nothing was running')],
  ['kept', () => l10n.t('kept')],
]);

/** Why a control was refused, in plain words. */
export function reasonWords(reason: string): string {
  return REASONS.get(reason)?.() ?? reason.replaceAll('_', ' ');
}

const REASONS: ReadonlyMap<string, () => string> = new Map([
  ['unknown_session', () => l10n.t('There is no such session here.')],
  ['no_active_prompt', () => l10n.t('No turn was running.')],
  ['invalid_mode', () => l10n.t('The agent does not know this mode.')],
  ['invalid_content', () => l10n.t('The message was empty or not readable.')],
  ['invalid_params', () => l10n.t('The request was not readable.')],
  ['already_delivered', () => l10n.t('The agent had read the message already.')],
  ['already_revoked', () => l10n.t('The message had been taken back already.')],
  ['unknown_message_id', () => l10n.t('No such message was waiting.')],
  ['unknown_item', () => l10n.t('No such message was in the queue.')],
  ['too_many_waiting', () => l10n.t('Too many messages were waiting already.')],
  ['unknown_tool_call', () => l10n.t('No such step was running.')],
  ['unknown_checkpoint', () => l10n.t('No such state is kept.')],
  ['not_owner_or_not_authorized', () => l10n.t('The message belongs to another client.')],
  ['observer_may_not_control', () => l10n.t('The client may only watch.')],
  ['prompt_active', () => l10n.t('A turn was running.')],
  ['no_checkpoint', () => l10n.t('There was nothing to go back to.')],
  ['no_redo', () => l10n.t('There was nothing to redo.')],
  ['command_collision', () => l10n.t('The same id came with another content before.')],
  ['unknown_reminder_id', () => l10n.t('No such reminder was waiting.')],
  ['splits_tool_batch', () => l10n.t('A conversation can’t be cut between a step and its result.')],
  ['out_of_range', () => l10n.t('The conversation has no such place.')],
  ['session_exists', () => l10n.t('A session with this id exists already.')],
  ['environment_widened', () => l10n.t('A fork may only narrow what its parent may see.')],
  ['environment_rejected', () => l10n.t('The rules for the environment were not valid.')],
  ['session_closed', () => l10n.t('The session was closed.')],
  ['failed', () => l10n.t('It failed; the log says why.')],
  ['not_staged', () => l10n.t('The file was not staged.')],
  ['fs_restore_error', () => l10n.t('The files could not be put back; nothing was changed.')],
  ['fs_snapshot_error', () => l10n.t('The files could not be kept; nothing was changed.')],
  ['unknown_loop', () => l10n.t('The session has no such delegate.')],
  ['unknown_gate', () => l10n.t('No such question was open.')],
  ['invalid_answer', () => l10n.t('The answer did not fit the question.')],
  ['nothing_to_gain', () => l10n.t('The conversation was too short to condense.')],
  ['cancelled', () => l10n.t('It was stopped before it was done.')],
]);

/** How a message was to arrive, in plain words; Harn's internal words for reminders too. */
export function modeWords(mode: string): string {
  return MODES.get(mode)?.() ?? mode;
}

const MODES: ReadonlyMap<string, () => string> = new Map([
  ['steer', () => l10n.t('Steer')],
  ['finish_step', () => l10n.t('Steer')],
  ['interrupt', () => l10n.t('Interrupt')],
  ['interrupt_immediate', () => l10n.t('Interrupt')],
  ['queue', () => l10n.t('Note')],
  ['audit_only', () => l10n.t('Note')],
]);

/** What a fact is called; the wire's name where there is no word for it. */
export function factWords(name: string): string {
  return FACTS.get(name)?.() ?? name;
}

const FACTS: ReadonlyMap<string, () => string> = new Map([
  ['session_id', () => l10n.t('Session')],
  ['sessionId', () => l10n.t('Session')],
  ['messageId', () => l10n.t('Message')],
  ['beforeMessageId', () => l10n.t('Before the message')],
  ['reminderId', () => l10n.t('Reminder')],
  ['toolCallId', () => l10n.t('Step')],
  ['checkpointId', () => l10n.t('State')],
  ['itemId', () => l10n.t('Message in the queue')],
  ['turnId', () => l10n.t('Turn')],
  ['forkSessionId', () => l10n.t('New session')],
  ['childSessionId', () => l10n.t('New session')],
  ['gateId', () => l10n.t('Question')],
  ['commandId', () => l10n.t('Command')],
  ['loopId', () => l10n.t('Delegate')],
  ['path', () => l10n.t('File')],
  ['configId', () => l10n.t('Option')],
  ['value', () => l10n.t('Value')],
  ['mode', () => l10n.t('Mode')],
  ['modeId', () => l10n.t('Mode')],
]);
