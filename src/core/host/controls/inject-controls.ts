import type { Ids } from '../../../base/ids.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ControlOutcome } from '../../../protocol/controls.ts';
import { ControlRefused } from '../../session/control/refusal.ts';
import type {
  CallCancelled,
  NewInject,
  SessionControl,
} from '../../session/control/session-control.ts';
import type { PendingMessage } from '../../session/control-events.ts';
import { isEmpty } from '../../session/state/prompts.ts';
import {
  AUTHORITIES,
  type Authority,
  type CommandId,
  INJECT_MODES,
  type InjectMode,
  type MessageId,
  type ToolCallId,
} from '../../session/words.ts';
import type { ControlTarget, InjectControls } from './api.ts';
import type { Receipted, ReceiptWriter } from './receipts/receipted.ts';
import {
  type ControlledSession,
  liveSession,
  noSuchSession,
  type SessionsAtHand,
  unknownLoop,
} from './sessions-at-hand.ts';

/** The words of `session/inject`. Source: Harn session control. */
const INJECT_WORDS: ReadonlyMap<unknown, InjectMode> = new Map<unknown, InjectMode>([
  ...INJECT_MODES.map((mode): [string, InjectMode] => [mode, mode]),
  ['interrupt', 'interrupt_immediate'],
]);

/** `session/remind` speaks Harn's internal words. */
const REMIND_WORDS: ReadonlyMap<unknown, InjectMode> = new Map<unknown, InjectMode>([
  ['audit_only', 'queue'],
  ['finish_step', 'steer'],
  ['interrupt_immediate', 'interrupt_immediate'],
]);

const CANCEL_REASON = 'Stopped by the user';

/** Messages for running turns, each with its receipt. Checks go in Harn's order: session, prompt, mode, content. */
export class InjectDesk implements InjectControls {
  readonly #sessions: SessionsAtHand;
  readonly #receipts: ReceiptWriter;
  readonly #newKey: () => string;

  constructor(sessions: SessionsAtHand, receipts: ReceiptWriter, ids: Ids) {
    this.#sessions = sessions;
    this.#receipts = receipts;
    this.#newKey = () => ids.unique();
  }

  inject(
    target: ControlTarget,
    request: Parameters<InjectControls['inject']>[1],
  ): Promise<{ readonly messageId: string }> {
    const work = async (): Promise<Receipted<{ readonly messageId: string }>> => {
      const { commandId } = request;
      const session = this.#sessions.live(target.sessionId);
      const mode = INJECT_WORDS.get(request.mode);
      const isRepeatable = commandId !== undefined && mode !== undefined;
      // A repeat is answered from the record also when its turn is over: the session knows.
      if (session === undefined || !(session.isActive || isRepeatable))
        throw await this.#idle(target.sessionId, session, mode === undefined);
      if (mode === undefined) throw invalidMode(request.mode, INJECT_WORDS);
      const content = requireContent(request.content);
      return await admitted(session, {
        mode,
        content,
        actor: target.actor,
        ...(commandId === undefined ? {} : { commandId: commandId as CommandId }),
      });
    };
    return this.#receipts.run('session/inject', target, work, {}, modeOf(request.mode));
  }

  revokeInject(
    target: ControlTarget,
    messageId: string,
  ): Promise<{ readonly status: 'revoked' | 'already_revoked' }> {
    const names = { messageId };
    return this.#receipts.run(
      'session/revoke_inject',
      target,
      async () => this.#revoke(target, messageId),
      names,
    );
  }

  replaceInject(
    target: ControlTarget,
    messageId: string,
    content: readonly ContentBlock[] | null,
  ): Promise<void> {
    return this.#receipts.run(
      'session/replace_inject',
      target,
      async () => {
        const session = this.#live(target) ?? (await this.#stored(target));
        await session.entries.replace(messageId as MessageId, content ?? [], target.actor);
        return { result: undefined, outcome: { outcome: 'replaced', status: 'accepted' } };
      },
      { messageId },
    );
  }

  async pending(sessionId: string): Promise<readonly PendingMessage[]> {
    const live = this.#sessions.live(sessionId);
    if (live !== undefined) return live.entries.pending();
    if (await this.#sessions.isStored(sessionId)) return [];
    throw noSuchSession(sessionId);
  }

  async remind(
    target: ControlTarget,
    request: Parameters<InjectControls['remind']>[1],
  ): Promise<{ readonly reminderId: string }> {
    const work = async (): Promise<Receipted<{ readonly messageId: string }>> => {
      const { commandId } = request;
      const session = this.#sessions.live(target.sessionId);
      const mode = REMIND_WORDS.get(request.mode);
      const isRepeatable = commandId !== undefined && mode !== undefined;
      if (session === undefined || !(session.isActive || isRepeatable))
        throw await this.#idle(target.sessionId, session, mode === undefined);
      if (mode === undefined) throw invalidMode(request.mode, REMIND_WORDS);
      const content = requireContent([{ type: 'text', text: request.body }]);
      return await admitted(session, {
        mode,
        content,
        actor: target.actor,
        reminder: {
          // A repeat has to have the same body as the first call.
          dedupeKey: request.dedupeKey ?? `reminder/${commandId ?? this.#newKey()}`,
          authority: authorityOf(request.authority),
          tags: request.tags ?? [],
        },
        ...(commandId === undefined ? {} : { commandId: commandId as CommandId }),
      });
    };
    const stated = modeOf(request.mode);
    const { messageId } = await this.#receipts.run('session/remind', target, work, {}, stated);
    return { reminderId: messageId };
  }

  revokeReminder(
    target: ControlTarget,
    reminderId: string,
  ): Promise<{ readonly status: 'revoked' | 'already_revoked' }> {
    return this.#receipts.run(
      'session/revoke_reminder',
      target,
      async () => {
        try {
          return await this.#revoke(target, reminderId);
        } catch (error) {
          throw asReminderRefusal(error, reminderId);
        }
      },
      { reminderId },
    );
  }

  cancelToolCall(
    target: ControlTarget,
    request: Parameters<InjectControls['cancelToolCall']>[1],
  ): Promise<CallCancelled> {
    const { toolCallId } = request;
    return this.#receipts.run(
      'session/cancel_tool_call',
      target,
      async (): Promise<Receipted<CallCancelled>> => {
        const session = this.#live(target) ?? (await this.#stored(target));
        const result = cancelIn(this.#loops(target, session, request.loopId), (entries) =>
          entries.cancelToolCall(toolCallId as ToolCallId, {
            reason: request.reason ?? CANCEL_REASON,
            remind: request.injectReminder ?? true,
            actor: target.actor,
          }),
        );
        const { status: outcome } = result;
        return outcome === 'not_found'
          ? { result, outcome: { outcome, status: 'rejected', reason: 'unknown_tool_call' } }
          : { result, outcome: { outcome, status: 'accepted' } };
      },
      { toolCallId },
    );
  }

  async #revoke(
    target: ControlTarget,
    messageId: string,
  ): Promise<Receipted<{ readonly status: 'revoked' | 'already_revoked' }>> {
    const session = this.#live(target) ?? (await this.#stored(target));
    const status = await session.entries.revoke(messageId as MessageId, target.actor);
    return {
      result: { status },
      outcome: { outcome: status, status: status === 'revoked' ? 'accepted' : 'idempotent' },
    };
  }

  /** The loops that may have a call; throws `unknown_loop` for a named one that is not there. */
  #loops(
    { sessionId }: ControlTarget,
    { entries }: ControlledSession,
    loopId: string | undefined,
  ): readonly SessionControl[] {
    const all = [{ loopId: sessionId, entries }, ...this.#sessions.delegates(sessionId)];
    if (loopId === undefined) return all.map((loop) => loop.entries);
    const named = all.find((loop) => loop.loopId === loopId);
    if (named === undefined) throw unknownLoop(sessionId, loopId);
    return [named.entries];
  }

  /** Found without a wait, so that the control keeps its place. */
  #live({ sessionId }: ControlTarget): ControlledSession | undefined {
    return this.#sessions.live(sessionId);
  }

  #stored({ sessionId }: ControlTarget): Promise<ControlledSession> {
    return liveSession(this.#sessions, sessionId);
  }

  /** Harn refuses an idle session before it looks at the mode; the reasons list both (design §6). */
  async #idle(
    sessionId: string,
    session: ControlledSession | undefined,
    isModeInvalid: boolean,
  ): Promise<ControlRefused> {
    if (session === undefined && !(await this.#sessions.isStored(sessionId)))
      return noSuchSession(sessionId);
    const reasons = ['no_active_prompt', ...(isModeInvalid ? ['invalid_mode'] : [])];
    return new ControlRefused(
      'no_active_prompt',
      `Session has no active prompt: ${sessionId}. Send the message as a prompt, or put it into the next-turn queue.`,
      { sessionId, reasons },
    );
  }
}

/** Ends a call in the first loop that knows it. */
function cancelIn(
  loops: readonly SessionControl[],
  cancel: (entries: SessionControl) => CallCancelled,
): CallCancelled {
  for (const entries of loops) {
    const result = cancel(entries);
    if (result.status !== 'not_found') return result;
  }
  return { status: 'not_found', tool: null };
}

/** Hands it to the session in the same tick. A repeat says so in its receipt. */
async function admitted(
  session: ControlledSession,
  message: NewInject,
): Promise<Receipted<{ readonly messageId: string }>> {
  const { messageId, isRepeat = false } = await session.entries.inject(message);
  const name = message.reminder === undefined ? 'messageId' : 'reminderId';
  return {
    result: { messageId },
    outcome: { outcome: 'accepted', status: isRepeat ? 'idempotent' : 'accepted' },
    target: { [name]: messageId },
  };
}

/** A receipt says how a message was to arrive, in the client's own word, refused or not. */
function modeOf(mode: unknown): ControlOutcome['metadata'] {
  return typeof mode === 'string' ? { mode } : {};
}

function invalidMode(mode: unknown, words: ReadonlyMap<unknown, InjectMode>): ControlRefused {
  const allowed = [...words.keys()].join(', ');
  const said = typeof mode === 'string' ? `"${mode}" is not a mode` : 'The mode is missing';
  return new ControlRefused('invalid_mode', `${said}. Use one of: ${allowed}.`);
}

function requireContent(content: readonly ContentBlock[] | null): readonly ContentBlock[] {
  if (content !== null && !isEmpty(content)) return content;
  throw new ControlRefused(
    'invalid_content',
    'The content is empty or malformed. Send text, or a list with at least one content block.',
  );
}

function authorityOf(word: unknown): Authority {
  if (word === undefined || word === null) return 'advisory';
  const known = AUTHORITIES.find((authority) => authority === word);
  if (known !== undefined) return known;
  throw new ControlRefused(
    'invalid_params',
    `${JSON.stringify(word)} is not an authority. Use one of: ${AUTHORITIES.join(', ')}.`,
  );
}

/** Harn speaks of reminders by their own id. */
function asReminderRefusal(error: unknown, reminderId: string): unknown {
  if (!(error instanceof ControlRefused)) return error;
  const refusal = error.refusal === 'unknown_message_id' ? 'unknown_reminder_id' : error.refusal;
  const { messageId: _messageId, ...rest }: JsonObject = error.data;
  return new ControlRefused(
    refusal,
    error.message,
    { ...rest, reason: refusal, reminderId },
    error,
  );
}
