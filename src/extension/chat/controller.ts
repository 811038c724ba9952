import * as l10n from '@vscode/l10n';
import { messageOf } from '../../base/errors.ts';
import type { ContentBlock } from '../../protocol/acp.ts';
import type { ChatAttachment, ChatCompletion, ChatImage, FromChat } from '../../protocol/chat.ts';
import type { DelegateFromChat } from '../../protocol/chat-delegates.ts';
import type { GateAnswer } from '../approvals/gate.ts';
import { fellBackWords, type SendSettings, sendMessage } from '../sessions/control/sending.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { SessionHub } from '../sessions/session-hub.ts';
import { asksToCompact } from './chat-status.ts';
import { type ControlRequest, handleControlRequest, isControlRequest } from './control-requests.ts';
import { handleDelegateRequest, isDelegateRequest } from './delegate-requests.ts';
import type { ChatBridge } from './webview/bridge.ts';
import { parseFromChat } from './webview/from-chat.ts';

type CommandName = Exclude<Extract<FromChat, { type: 'command' }>['name'], 'set_key'>;

type MessageAction = Extract<FromChat, { type: 'message_action' }>;
type BackRequest = MessageAction | Extract<FromChat, { type: 'restore_tool' }>;

/** What the chat asks of the editor. */
export type ChatEffects = {
  /** Starts a session in the right folder; null if the person gave up. */
  readonly startSession: () => Promise<LiveSession | null>;
  readonly toBlocks: (
    text: string,
    attachments: readonly ChatAttachment[],
    images: readonly ChatImage[],
  ) => Promise<ContentBlock[]>;
  readonly complete: (query: string) => Promise<ChatCompletion[]>;
  readonly resolveUris: (uris: readonly string[]) => Promise<ChatAttachment[]>;
  readonly openLocation: (
    path: string,
    line: number | undefined,
    session: LiveSession | null,
  ) => Promise<void>;
  readonly openAttachment: (uri: string, range: string | undefined) => Promise<void>;
  readonly openDiff: (session: LiveSession, toolCallId: string, path: string) => Promise<void>;
  readonly openOutput: (session: LiveSession, toolCallId: string) => Promise<void>;
  /** Shows the transcript of a session or a delegate. */
  readonly openTranscript: (id: string, title: string) => Promise<void>;
  readonly openLink: (href: string, session: LiveSession | null) => Promise<void>;
  /** Tells keybindings whether the chat has the keyboard. */
  readonly setFocused: (focused: boolean) => void;
  readonly copy: (text: string) => Promise<void>;
  /** Asks for the API key of a model source, or which one first; false if none was stored. */
  readonly setKey: (source: string | null) => Promise<boolean>;
  readonly command: (name: CommandName, sessionId: string | null) => Promise<void>;
  /** What a message's menu asks for: going back, branching off, putting files back. */
  readonly messageAction: (
    sessionId: string,
    action: MessageAction['action'],
    messageId: string,
  ) => Promise<void>;
  /** Puts the files of one call back. */
  readonly restoreCall: (sessionId: string, toolCallId: string) => Promise<void>;
  readonly sendSettings: () => SendSettings;
  /** Says what came of something, where it is not what was asked for. */
  readonly inform: (message: string) => void;
  /** Says that something the person asked for did not work. */
  readonly complain: (message: string) => void;
};

/** Carries out what the webview asks for. */
export class ChatController {
  readonly #bridge: ChatBridge;
  readonly #hub: SessionHub;
  readonly #effects: ChatEffects;
  #newestCompletion = 0;

  constructor(bridge: ChatBridge, hub: SessionHub, effects: ChatEffects) {
    this.#bridge = bridge;
    this.#hub = hub;
    this.#effects = effects;
  }

  /** A message of the webview, as it came. Unknown ones are ignored; never rejects. */
  async receive(raw: unknown): Promise<void> {
    const message = parseFromChat(raw);
    if (!message) return;
    try {
      if (isControlRequest(message)) await this.#control(message);
      else if (isDelegateRequest(message)) await this.#aboutDelegate(message);
      else if (message.type === 'message_action' || message.type === 'restore_tool')
        await this.#goBack(message);
      else await this.#handle(message);
    } catch (error) {
      this.#effects.complain(messageOf(error));
    }
  }

  async #control(request: ControlRequest): Promise<void> {
    const session = this.#bridge.session ?? (await this.#sessionToSendTo());
    if (!session) return;
    await handleControlRequest(session, request, (text) => this.#bridge.compose({ text }, true));
  }

  async #aboutDelegate(request: DelegateFromChat): Promise<void> {
    const { session } = this.#bridge;
    if (session) await handleDelegateRequest(session, request, this.#effects.openTranscript);
  }

  async #handle(
    message: Exclude<FromChat, ControlRequest | BackRequest | DelegateFromChat>,
  ): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.#bridge.ready(message.sessionId ?? null);
      case 'send':
        return this.#send(message);
      case 'stop':
        return this.#stop();
      case 'focus':
        return this.#effects.setFocused(message.focused);
      case 'answer':
        return this.#answer(message);
      case 'load_before':
        return this.#loadBefore();
      case 'complete':
        return this.#complete(message.requestId, message.query);
      case 'set_option':
        return this.#bridge.session?.setOption(message.configId, message.value);
      case 'retry':
        return this.#retry();
      case 'resolve_uris':
        return this.#resolveUris(message.uris);
      case 'command':
        if (message.name === 'set_key') return this.#setKey();
        return this.#effects.command(message.name, this.#bridge.sessionId);
      default:
        return this.#open(message);
    }
  }

  async #goBack(message: BackRequest): Promise<void> {
    const { sessionId } = this.#bridge;
    if (sessionId === null) return;
    if (message.type === 'restore_tool')
      return this.#effects.restoreCall(sessionId, message.toolCallId);
    return this.#effects.messageAction(sessionId, message.action, message.messageId);
  }

  async #open(
    message: Extract<FromChat, { type: `open_${string}` } | { type: 'copy' }>,
  ): Promise<void> {
    const { session } = this.#bridge;
    switch (message.type) {
      case 'open_location':
        return this.#effects.openLocation(message.path, message.line, session);
      case 'open_attachment':
        return this.#effects.openAttachment(message.uri, message.range);
      case 'open_link':
        return this.#effects.openLink(message.href, session);
      case 'copy':
        return this.#effects.copy(message.text);
      case 'open_diff':
        if (session) await this.#effects.openDiff(session, message.toolCallId, message.path);
        return;
      case 'open_output':
        if (session) await this.#effects.openOutput(session, message.toolCallId);
    }
  }

  async #send(message: Extract<FromChat, { type: 'send' }>): Promise<void> {
    const { requestId, text, attachments, images, mode } = message;
    try {
      const session = await this.#sessionToSendTo();
      if (!session) {
        this.#bridge.push({ type: 'sent', requestId, error: l10n.t('No session was started.') });
        return;
      }
      if (asksToCompact(session, text)) {
        this.#bridge.push({ type: 'sent', requestId });
        await this.#effects.command('compact', session.sessionId);
        return;
      }
      const blocks = await this.#effects.toBlocks(text, attachments, images);
      const { active } = session.delegates.list;
      if (active) {
        await session.delegates.say(active.loopId, blocks, text);
        this.#bridge.push({ type: 'sent', requestId });
        const callId = session.delegates.list.path(active.loopId)[0]?.toolCallId;
        if (callId) this.#bridge.push({ type: 'reveal', id: callId });
        return;
      }
      const sent = await sendMessage(session, blocks, text, this.#effects.sendSettings(), mode);
      this.#bridge.push({ type: 'sent', requestId });
      if (sent.fellBack) this.#effects.inform(fellBackWords());
    } catch (error) {
      this.#bridge.push({ type: 'sent', requestId, error: messageOf(error) });
    }
  }

  async #sessionToSendTo(): Promise<LiveSession | null> {
    const { session, sessionId } = this.#bridge;
    if (session) return session;
    return sessionId === null ? this.#effects.startSession() : this.#bridge.show(sessionId);
  }

  async #stop(): Promise<void> {
    const { sessionId } = this.#bridge;
    if (sessionId !== null) await this.#hub.stop(sessionId);
  }

  #answer(message: Extract<FromChat, { type: 'answer' }>): void {
    const { gateId, optionId, content, declined } = message;
    const answer: GateAnswer =
      declined === true
        ? { kind: 'declined' }
        : optionId === undefined
          ? { kind: 'accepted', content: content ?? {} }
          : { kind: 'selected', optionId };
    if (this.#hub.gates.answer(gateId, answer)) return;
    const error = l10n.t('This was answered already.');
    this.#bridge.push({ type: 'answer_failed', gateId, error });
  }

  async #loadBefore(): Promise<void> {
    const { session } = this.#bridge;
    if (!session) return;
    try {
      await session.loadBefore();
    } catch (error) {
      this.#bridge.push({
        type: 'prepend',
        items: [],
        hasBefore: session.conversation.hasBefore,
      });
      throw error;
    }
  }

  async #complete(requestId: number, query: string): Promise<void> {
    this.#newestCompletion = requestId;
    const items = await this.#effects.complete(query);
    if (this.#newestCompletion !== requestId) return;
    this.#bridge.push({ type: 'completions', requestId, items });
  }

  async #retry(): Promise<void> {
    const { sessionId } = this.#bridge;
    if (sessionId === null) return;
    const session = await this.#hub.open(sessionId);
    if (await session.retry()) return;
    this.#effects.complain(l10n.t('The prompt is not known here any more. Send it again.'));
  }

  /** Asks for the key that an open sign-in wants, and answers it once there is one. */
  async #setKey(): Promise<void> {
    const { sessionId } = this.#bridge;
    const open = sessionId === null ? [] : this.#hub.gates.ofSession(sessionId);
    const gate = open.find(({ question }) => question.kind === 'auth');
    const target = gate?.question.kind === 'auth' ? gate.question.target : null;
    if ((await this.#effects.setKey(target)) && gate)
      this.#hub.gates.answer(gate.gateId, { kind: 'accepted', content: {} });
  }

  async #resolveUris(uris: readonly string[]): Promise<void> {
    const attachments = await this.#effects.resolveUris(uris);
    this.#bridge.compose({ attachments }, true);
  }
}
