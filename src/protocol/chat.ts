import type { JsonObject } from '../base/json.ts';
import type { SessionConfigOption, ToolCallLocation, ToolKind } from './acp.ts';

/**
 * The bridge between the extension and the chat webview. The extension owns all state but draft and scroll; the
 * webview can be thrown away at any time and asks again with `ready`. Both sides parse what they receive.
 */

/** One row of the conversation, oldest first. Ids are stable; a row with a known id replaces the old one. */
export type ChatItem =
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly at: number;
      readonly text: string;
      readonly attachments: readonly ChatAttachment[];
    }
  | {
      readonly kind: 'assistant';
      readonly id: string;
      readonly text: string;
      readonly streaming: boolean;
    }
  | {
      readonly kind: 'thought';
      readonly id: string;
      readonly text: string;
      readonly streaming: boolean;
    }
  | ChatTool
  | {
      readonly kind: 'plan';
      readonly id: string;
      readonly entries: readonly {
        readonly text: string;
        readonly status: 'pending' | 'in_progress' | 'completed';
      }[];
    }
  | {
      readonly kind: 'notice';
      readonly id: string;
      readonly severity: 'info' | 'warning' | 'error';
      readonly title: string;
      readonly description: string;
    }
  /** An answered gate, as a line of the conversation: "allowed by you". */
  | {
      readonly kind: 'answer';
      readonly id: string;
      readonly text: string;
      readonly allowed: boolean;
    }
  | {
      readonly kind: 'turn_end';
      readonly id: string;
      readonly stopReason: string;
      readonly terminal: string;
      readonly reason: string;
      readonly seconds: number | null;
    };

/** A tool call's card. */
export type ChatTool = {
  readonly kind: 'tool';
  readonly id: string;
  readonly title: string;
  readonly name: string;
  readonly toolKind: ToolKind;
  readonly status:
    | 'pending'
    | 'in_progress'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'denied'
    | 'outcome_unknown';
  readonly input: string;
  readonly locations: readonly ToolCallLocation[];
  readonly diffs: readonly ChatDiff[];
  /** What is shown of its output: at most the last 64 KiB while streaming, `output` of the result when done. */
  readonly output: string;
  /** How much was left out in front of `output`, in characters; more than 0 offers "show all". */
  readonly outputCut: number;
  readonly images: readonly { readonly mimeType: string; readonly data: string }[];
};

/** A change to one file; `lines` are those of a unified diff without its header, cut after 400. */
export type ChatDiff = {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly isNew: boolean;
  readonly lines: readonly { readonly mark: ' ' | '+' | '-' | '@'; readonly text: string }[];
  readonly cut: boolean;
};

export type ChatAttachment = {
  readonly name: string;
  readonly uri: string;
  readonly kind: 'file' | 'folder' | 'selection' | 'diagnostics' | 'image';
  readonly range?: string;
};

/** A gate that is open now. Live state, never part of the conversation. */
export type ChatGate =
  | {
      readonly kind: 'permission';
      readonly gateId: string;
      readonly toolCallId: string;
      readonly title: string;
      readonly reason: string;
      readonly details: readonly string[];
      readonly diffs: readonly ChatDiff[];
      readonly options: readonly {
        readonly optionId: string;
        readonly name: string;
        readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
      }[];
    }
  | {
      readonly kind: 'ask';
      readonly gateId: string;
      readonly message: string;
      readonly schema: JsonObject;
    }
  | {
      readonly kind: 'auth';
      readonly gateId: string;
      readonly target: string;
      readonly message: string;
      readonly url?: string;
    };

/** What the header and composer show. */
export type ChatStatus = {
  /** `none`: no session chosen. `offline`: agent-core is not running; `offlineReason` says why. */
  readonly activity:
    | 'none'
    | 'starting'
    | 'idle'
    | 'running'
    | 'waiting'
    | 'stopping'
    | 'offline'
    | 'untrusted'
    | 'no_folder';
  readonly offlineReason?: string;
  readonly sessionId: string | null;
  readonly title: string;
  readonly cwd: string;
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly {
    readonly name: string;
    readonly description: string;
    readonly hint?: string;
  }[];
  readonly usage: { readonly used: number; readonly size: number; readonly cost?: string } | null;
  /** Prompts admitted but not begun, oldest first. */
  readonly queued: readonly { readonly id: string; readonly text: string }[];
  /** True where the model is the built-in rehearsal: shown as such. */
  readonly rehearsal: boolean;
};

/** Extension → webview. */
export type ToChat =
  | {
      readonly type: 'reset';
      readonly status: ChatStatus;
      readonly items: readonly ChatItem[];
      readonly hasBefore: boolean;
      readonly gates: readonly ChatGate[];
      readonly strings: Readonly<Record<string, string>>;
    }
  /** New rows go to the end in this order, known ids are replaced in place. */
  | { readonly type: 'upsert'; readonly items: readonly ChatItem[] }
  | { readonly type: 'prepend'; readonly items: readonly ChatItem[]; readonly hasBefore: boolean }
  /** Streamed text of a row that exists; `offset` in UTF-16 units lets a repeat be recognised. */
  | {
      readonly type: 'append';
      readonly id: string;
      readonly field: 'text' | 'output';
      readonly offset: number;
      readonly text: string;
    }
  | { readonly type: 'remove'; readonly ids: readonly string[] }
  | { readonly type: 'gates'; readonly gates: readonly ChatGate[] }
  | { readonly type: 'status'; readonly status: ChatStatus }
  | {
      readonly type: 'completions';
      readonly requestId: number;
      readonly items: readonly ChatCompletion[];
    }
  /** Puts text or attachments into the composer and focuses it. */
  | {
      readonly type: 'compose';
      readonly text?: string;
      readonly attachments?: readonly ChatAttachment[];
      readonly focus: boolean;
    }
  | { readonly type: 'sent'; readonly requestId: number; readonly error?: string }
  | { readonly type: 'reveal'; readonly id: string };

/** An entry of the @-mention list. */
export type ChatCompletion = ChatAttachment & { readonly detail: string };

/** Webview → extension. */
export type FromChat =
  | { readonly type: 'ready' }
  /** The composer is cleared only when `sent` without an error comes back. */
  | {
      readonly type: 'send';
      readonly requestId: number;
      readonly text: string;
      readonly attachments: readonly ChatAttachment[];
      readonly images: readonly {
        readonly mimeType: string;
        readonly data: string;
        readonly name: string;
      }[];
    }
  | { readonly type: 'stop' }
  | {
      readonly type: 'answer';
      readonly gateId: string;
      readonly optionId?: string;
      readonly content?: JsonObject;
      readonly declined?: boolean;
    }
  | { readonly type: 'load_before' }
  | { readonly type: 'complete'; readonly requestId: number; readonly query: string }
  | { readonly type: 'set_option'; readonly configId: string; readonly value: string }
  | { readonly type: 'open_location'; readonly path: string; readonly line?: number }
  | { readonly type: 'open_diff'; readonly toolCallId: string; readonly path: string }
  | { readonly type: 'open_output'; readonly toolCallId: string }
  | { readonly type: 'open_link'; readonly href: string }
  | { readonly type: 'copy'; readonly text: string }
  /** A command of the extension's own allow-list, by its short name. */
  | {
      readonly type: 'command';
      readonly name:
        | 'new_session'
        | 'restart'
        | 'show_log'
        | 'show_changes'
        | 'show_transcript'
        | 'manage_trust'
        | 'open_folder'
        | 'set_key';
    };
