import type * as vscode from 'vscode';
import type { ChatBridge } from '../chat/webview/bridge.ts';
import type { ChatViewProvider } from '../chat/webview/view-provider.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import type { HostRegistry } from '../hosts/host-registry.ts';
import type { Host, Hosts } from '../hosts/hosts.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { SessionHub } from '../sessions/session-hub.ts';
import type { SessionsTree } from '../sessions/tree/sessions-tree.ts';
import type { ModelKeys } from '../settings/model-sources.ts';

/** What commands act on. */
export type Services = {
  readonly hub: SessionHub;
  readonly hosts: Hosts;
  readonly registry: HostRegistry;
  /** Where rooms register what they answer for the agent. */
  readonly calls: ClientCalls;
  readonly bridge: ChatBridge;
  readonly chat: ChatViewProvider;
  readonly tree: SessionsTree;
  readonly keys: ModelKeys;
  readonly log: vscode.LogOutputChannel;
  /** `publisher.name`. */
  readonly extensionId: string;
  /** Asks for a folder if need be and starts a session there; null if the person gave up. */
  readonly startSession: (host?: Host) => Promise<LiveSession | null>;
  /** Shows a session in the chat and brings the chat to the front. */
  readonly showSession: (sessionId: string, preserveFocus?: boolean) => Promise<void>;
};

/** A command's body. `argument` is what a menu, a link or another command hands over; it may be anything. */
export type CommandBody = (argument?: unknown, others?: unknown) => Promise<unknown>;

/** Commands by their id. */
export type CommandTable = Readonly<Record<string, CommandBody>>;
