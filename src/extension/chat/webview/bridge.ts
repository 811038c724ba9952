import { type Disposable, DisposableStore } from '../../../base/disposables.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { CodedError, messageOf } from '../../../base/errors.ts';
import type { ChatAttachment, ChatSendMode, ChatStatus, ToChat } from '../../../protocol/chat.ts';
import type { ChatStringKey } from '../../../protocol/chat-strings.ts';
import { chatGate } from '../../approvals/gate.ts';
import type { Hosts } from '../../hosts/hosts.ts';
import type { LiveSession } from '../../sessions/live-session.ts';
import type { HubChange, SessionHub } from '../../sessions/session-hub.ts';
import { type Availability, chatStatus } from '../chat-status.ts';
import { Outbox, type Schedule } from './outbox.ts';

/** What the bridge needs from outside. */
export type BridgePorts = {
  readonly hub: SessionHub;
  readonly hosts: Hosts;
  readonly schedule: Schedule;
  readonly availability: () => Availability;
  /** What Enter does while a turn runs. */
  readonly runningSend: () => ChatSendMode;
  /** What of a session is told apart from its conversation. */
  readonly aside: (sessionId: string) => Pick<ChatStatus, 'staged' | 'canRedo'>;
  /** Fires with the session whose `aside` changed. */
  readonly onDidChangeAside: Event<string>;
  /** Translations of the page's texts; asked for once. */
  readonly strings: () => Promise<Readonly<Partial<Record<ChatStringKey, string>>>>;
  readonly log: (message: string) => void;
  /** Keeps which session was open, for the next window. */
  readonly remember: (sessionId: string | null) => void;
};

/** Where messages to a webview go while there is one. */
export type ChatTarget = { readonly post: (message: ToChat) => void };

/**
 * Decides which session the chat shows and tells the webview what changes. It holds all state, so that the webview can
 * be thrown away at any time.
 */
export class ChatBridge implements Disposable {
  readonly #ports: BridgePorts;
  readonly #outbox: Outbox;
  readonly #store = new DisposableStore();
  readonly #shown = new Emitter<string | null>();
  #target: ChatTarget | null = null;
  /** True once the webview has asked for everything: what is sent before may be lost. */
  #isReady = false;
  #strings: Readonly<Partial<Record<ChatStringKey, string>>> | null = null;
  #sessionId: string | null = null;
  #opening: Promise<LiveSession | null> | null = null;
  #problem: string | null = null;
  #pendingCompose: Extract<ToChat, { type: 'compose' }> | null = null;

  /** Fires with the session that is shown from now on. */
  readonly onDidShow = this.#shown.event;

  constructor(ports: BridgePorts) {
    this.#ports = ports;
    this.#outbox = new Outbox((message) => this.#target?.post(message), ports.schedule);
    this.#store.add(this.#outbox);
    this.#store.add(ports.hub.onDidChange((change) => this.#sessionChanged(change)));
    this.#store.add(ports.hub.onDidRemove((id) => this.#removed(id)));
    this.#store.add(ports.hosts.onDidChange(() => this.updateStatus()));
    this.#store.add(
      ports.onDidChangeAside((id) => {
        if (id === this.#sessionId) this.updateStatus();
      }),
    );
    this.#store.add(
      ports.hub.gates.onDidChange(({ gate }) => {
        if (gate.sessionId !== this.#sessionId) return;
        this.#pushGates();
        this.updateStatus();
      }),
    );
  }

  /** The session that is shown, open or not. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** The session that is shown, if this window follows it. */
  get session(): LiveSession | null {
    return this.#sessionId === null ? null : this.#ports.hub.get(this.#sessionId);
  }

  /** The webview came; null: it went. What was waiting for the old one is dropped. */
  connect(target: ChatTarget | null): void {
    this.#outbox.clear();
    this.#target = target;
    if (target === null) this.#isReady = false;
  }

  /** The webview asks for everything. `lastShown` is what it showed before it was thrown away. */
  async ready(lastShown: string | null): Promise<void> {
    this.#sessionId ??= lastShown;
    this.#strings ??= await this.#ports.strings();
    this.#isReady = true;
    this.#pushAll();
    await this.reopen();
  }

  /** The session that this window showed before; it is opened when the chat is seen. */
  restore(sessionId: string | undefined): void {
    this.#sessionId = sessionId ?? null;
  }

  /** Opens the session to show if it is not open. Never rejects: the chat says what is wrong. */
  async reopen(): Promise<void> {
    if (this.#sessionId === null || this.session?.isAttached || this.#opening) return;
    try {
      await this.show(this.#sessionId);
    } catch (error) {
      this.#ports.log(messageOf(error));
      if (error instanceof CodedError && error.code === 'session.unknown') await this.show(null);
    }
  }

  /** Shows a session, opening it if need be. Rejects if it can't be opened; the chat then says so. */
  async show(sessionId: string | null): Promise<LiveSession | null> {
    if (sessionId !== this.#sessionId) this.session?.delegates.forgetRows();
    this.#sessionId = sessionId;
    this.#ports.remember(sessionId);
    this.#shown.fire(sessionId);
    if (sessionId === null || this.#ports.availability() === 'untrusted') {
      this.#pushAll();
      return null;
    }
    const opening = this.#ports.hub.open(sessionId);
    this.#opening = opening;
    this.#problem = null;
    this.#pushAll();
    try {
      return await opening;
    } catch (error) {
      this.#problem = messageOf(error);
      throw error;
    } finally {
      if (this.#opening === opening) {
        this.#opening = null;
        this.#pushAll();
      }
    }
  }

  /** Puts text or attachments into the composer, now or as soon as the webview is there. */
  compose(
    content: { text?: string; takesBack?: string; attachments?: readonly ChatAttachment[] },
    focus: boolean,
  ): void {
    const message = { type: 'compose' as const, ...content, focus };
    if (this.#target && this.#isReady) this.#outbox.push(message);
    else
      this.#pendingCompose = {
        ...this.#pendingCompose,
        ...message,
        attachments: [...(this.#pendingCompose?.attachments ?? []), ...(content.attachments ?? [])],
      };
  }

  /** Sends one message to the webview, in order with all others. */
  push(message: ToChat): void {
    if (this.#target) this.#outbox.push(message);
  }

  /** Sends what waits now, without waiting for the frame. */
  flush(): void {
    this.#outbox.flush();
  }

  /** The state of the header and composer may have changed. */
  updateStatus(): void {
    this.push({ type: 'status', status: this.#status() });
  }

  #pushAll(): void {
    const { session } = this;
    const problem = this.#problem;
    session?.delegates.forgetRows();
    this.push({
      type: 'reset',
      status: this.#status(),
      items: [
        ...(session?.conversation.items() ?? []),
        ...(problem === null || session
          ? []
          : [
              {
                kind: 'notice' as const,
                id: 'problem',
                severity: 'error' as const,
                title: problem,
                description: '',
              },
            ]),
      ],
      hasBefore: session?.conversation.hasBefore ?? false,
      gates: this.#gates(),
      strings: this.#strings ?? {},
    });
    if (!this.#target || !this.#isReady || !this.#pendingCompose) return;
    this.push(this.#pendingCompose);
    this.#pendingCompose = null;
  }

  #pushGates(): void {
    this.push({ type: 'gates', gates: this.#gates() });
  }

  #gates(): ReturnType<typeof chatGate>[] {
    const { gates } = this.#ports.hub;
    return this.#sessionId === null ? [] : gates.ofSession(this.#sessionId).map(chatGate);
  }

  #status(): ReturnType<typeof chatStatus> {
    const { hub, hosts, availability, runningSend, aside } = this.#ports;
    const id = this.#sessionId;
    const status = chatStatus({
      availability: availability(),
      host: hosts.of(id),
      session: this.session,
      opening: this.#opening !== null,
      openGates: id === null ? 0 : hub.gates.ofSession(id).length,
      title: id === null ? '' : (hub.directory.get(id)?.title ?? ''),
      runningSend: runningSend(),
      ...(id === null ? { staged: null, canRedo: false } : aside(id)),
    });
    return { ...status, sessionId: id };
  }

  #sessionChanged({ session, change }: HubChange): void {
    if (session.sessionId !== this.#sessionId) return;
    switch (change.kind) {
      case 'chat':
        for (const one of change.changes) this.push(one);
        return;
      case 'reset':
        this.#pushAll();
        return;
      case 'delegate_rows':
        this.push(change.message);
        return;
      case 'delegates':
      case 'status':
      case 'turn_ended':
      case 'stop_overdue':
        this.updateStatus();
        return;
      case 'receipt':
    }
  }

  #removed(sessionId: string): void {
    if (sessionId !== this.#sessionId) return;
    this.#sessionId = null;
    this.#ports.remember(null);
    this.#shown.fire(null);
    this.#pushAll();
  }

  dispose(): void {
    this.#store.dispose();
    this.#shown.dispose();
  }
}
