import type { JsonObject } from '../base/json.ts';
import type { SessionConfigOption, ToolCallLocation, ToolKind } from './acp.ts';
import type { ChatCommand } from './chat-commands.ts';
import type { ChatCompany } from './chat-company.ts';
import type {
  ChatCallRef,
  ChatDelegate,
  ChatHandBack,
  ChatTalk,
  DelegateFromChat,
  DelegateToChat,
} from './chat-delegates.ts';
import type { ChatFault } from './chat-fault.ts';
import type { ChatPending } from './chat-pending.ts';
import type { ChatStringKey } from './chat-strings.ts';

/**
 * The bridge between the extension and the chat webview. The extension owns all state but draft and scroll; the
 * webview can be thrown away at any time and asks again with `ready`. Both sides parse what they receive: an
 * unknown or malformed message is ignored.
 *
 * The page that the extension serves holds `<link rel="stylesheet" id="vscode-codicon-stylesheet" href="codicon.css">`,
 * `<link rel="stylesheet" href="chat.css">`, `<div id="root"></div>` and
 * `<script type="module" nonce="…" src="chat.js"></script>`, all from dist/media, and needs no more of the content
 * security policy than images (with data:), styles and fonts of its own origin and that nonce.
 */

/** One row of the conversation, oldest first. Ids are stable; a row with a known id replaces the old one. */
export type ChatItem =
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly at: number;
      readonly text: string;
      readonly attachments: readonly ChatAttachment[];
      readonly images?: readonly ChatImage[];
      /** How it arrived, when it is not a turn's prompt. */
      readonly inject?: { readonly mode: ChatInjectMode; readonly seam: string };
      /** Its id on the wire, for fork and truncate. */
      readonly messageId?: string;
      /** The state before this message, when there is one to go back to; set on a turn's prompt. */
      readonly checkpoint?: {
        readonly checkpointId: string;
        readonly files: number;
        readonly onStack: boolean;
      };
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
  | ChatHandBack
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
  /** A look of the completion judge. */
  | {
      readonly kind: 'judge';
      readonly id: string;
      readonly judge: string;
      readonly verdict: 'done' | 'vetoed' | 'failed';
      readonly reason: string;
      readonly correction: string | null;
    }
  /** The conversation as the model reads it was condensed, is being so, or was not after all. */
  | {
      readonly kind: 'compaction';
      readonly id: string;
      readonly state: 'running' | 'done' | 'failed';
      /** How many messages it was and is; null where that is not known. */
      readonly before: number | null;
      readonly after: number | null;
      /** What the model reads in place of the messages; empty where that is not known. */
      readonly summary: string;
      /** Why it was not done. */
      readonly reason: string;
    }
  /** `terminal` is the terminal kind (`natural`, `user_cancelled`, `policy_budget`, `provider_error`, …). */
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
    | 'interrupted'
    | 'denied'
    | 'outcome_unknown';
  readonly input: string;
  readonly locations: readonly ToolCallLocation[];
  readonly diffs: readonly ChatDiff[];
  /** What is shown of its output: at most the last 64 KiB while streaming, `output` of the result when done. */
  readonly output: string;
  /** How much was left out in front of `output`, in characters; more than 0 offers "show all". */
  readonly outputCut: number;
  readonly images: readonly ChatImage[];
  /** Its edits were staged: it wrote nothing to the disk. */
  readonly staged?: boolean;
  readonly delegate?: ChatDelegate;
};

/** A picture; `data` is base64 without a prefix. Only png, jpeg, gif and webp are shown. */
export type ChatImage = {
  readonly mimeType: string;
  readonly data: string;
  readonly name?: string;
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
      /** The delegate that asks. */
      readonly loopId?: string;
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
      readonly loopId?: string;
      readonly message: string;
      readonly schema: JsonObject;
    }
  | {
      readonly kind: 'auth';
      readonly gateId: string;
      readonly target: string;
      readonly message: string;
      readonly url?: string;
      /** It closes by itself once an editor with language models is there. */
      readonly waitsFor?: 'editor';
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
  /** The host of the session, where it is one that a person added. */
  readonly hostName?: string;
  readonly sessionId: string | null;
  /** The turn that runs, if one does: `Stopping…` ends when this changes or the activity is no longer busy. */
  readonly turnId?: string | null;
  readonly title: string;
  readonly cwd: string;
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly {
    readonly name: string;
    readonly description: string;
    readonly hint?: string;
  }[];
  readonly usage: { readonly used: number; readonly size: number; readonly cost?: string } | null;
  /** Messages of this session that wait for their seam, in the order they will arrive; then those given back. */
  readonly pending: readonly ChatPending[];
  /** What is held for later turns; `paused` is the translated reason, or null. */
  readonly nextTurns: {
    readonly paused: string | null;
    /** True where the agent was started again before these were sent: each waits for the person. */
    readonly held?: boolean;
    readonly items: readonly {
      readonly id: string;
      readonly text: string;
      readonly attached: readonly string[];
    }[];
  };
  /** What Enter does while a turn runs. */
  readonly runningSend: ChatSendMode;
  /** Edits that wait for a review; null where tools write at once and nothing is staged. */
  readonly staged: {
    readonly files: number;
    /** The files that wait. */
    readonly paths?: readonly string[];
    /** True while further edits are staged too; false where only earlier ones wait still. */
    readonly on: boolean;
  } | null;
  /** True when a rollback was made that can be redone. */
  readonly canRedo: boolean;
  /** The session can't be written to disk: nothing more is done in it. Left out where all is well. */
  readonly fault?: ChatFault;
  /** The conversation is being condensed, which Stop ends. */
  readonly compacting?: boolean;
  /** Who else follows it, and whether this window only reads; left out where it is alone and in control. */
  readonly company?: ChatCompany;
  /** Prompts admitted but not begun, oldest first. */
  readonly queued: readonly { readonly id: string; readonly text: string }[];
  /** True where the model is the built-in rehearsal: shown as such. */
  readonly rehearsal: boolean;
  /** Messages go to this delegate; left out where they go to the main agent. */
  readonly talksTo?: ChatTalk;
  /** Delegates that work now. Left out for none. */
  readonly delegatesAtWork?: readonly string[];
};

/** The engine's inject modes as the chat shows them; `queue` is a note that no agent reads. */
export type ChatInjectMode = 'steer' | 'interrupt_immediate' | 'queue';

/** What sending does: a prompt of its own, an inject, or an item of the next-turn queue. */
export type ChatSendMode = 'prompt' | 'steer' | 'interrupt' | 'next' | 'note';

/** Extension → webview. */
export type ToChat =
  | DelegateToChat
  | {
      readonly type: 'reset';
      readonly status: ChatStatus;
      readonly items: readonly ChatItem[];
      readonly hasBefore: boolean;
      readonly gates: readonly ChatGate[];
      /** Translations; a missing key falls back to English. */
      readonly strings: Readonly<Partial<Record<ChatStringKey, string>>>;
    }
  /** New rows go to the end in this order, known ids are replaced in place. */
  | { readonly type: 'upsert'; readonly items: readonly ChatItem[] }
  /** Answers `load_before`; without items and with `hasBefore` it may be asked again. */
  | { readonly type: 'prepend'; readonly items: readonly ChatItem[]; readonly hasBefore: boolean }
  /**
   * Streamed text of a row that exists. `offset`, in UTF-16 units, is where it begins in the whole text (for output:
   * in the whole output, what `outputCut` left out included). A repeat is dropped; on a gap the webview sends `ready`.
   */
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
      /** A text put in before, which goes again if it still stands there alone. */
      readonly takesBack?: string;
      readonly attachments?: readonly ChatAttachment[];
      readonly focus: boolean;
    }
  | { readonly type: 'sent'; readonly requestId: number; readonly error?: string }
  /** An answer that did not count; the gate stays as `gates` says. */
  | { readonly type: 'answer_failed'; readonly gateId: string; readonly error: string }
  /** Scrolls to a row, or focuses an open gate. */
  | { readonly type: 'reveal'; readonly id: string };

/** An entry of the @-mention list. */
export type ChatCompletion = ChatAttachment & { readonly detail: string };

/** Webview → extension. */
export type FromChat =
  | DelegateFromChat
  /** Asks for a `reset`: at start, with the session it last showed, and after a gap. */
  | { readonly type: 'ready'; readonly sessionId?: string | null }
  /**
   * The composer is cleared only when `sent` without an error comes back. Without a session (`none`) the extension
   * starts one first; while a turn runs the prompt is queued and then shown in `queued`.
   */
  | {
      readonly type: 'send';
      readonly requestId: number;
      readonly text: string;
      readonly attachments: readonly ChatAttachment[];
      readonly images: readonly ChatImage[];
      /** Missing: what the state allows, `runningSend` while a turn runs. */
      readonly mode?: ChatSendMode;
    }
  | { readonly type: 'stop' }
  /** Ends one call; the turn goes on. */
  | ({ readonly type: 'stop_tool' } & ChatCallRef)
  /** Puts the files that one call wrote back to what they were before it; asks first. */
  | { readonly type: 'restore_tool'; readonly toolCallId: string }
  /** Changes a pending message; revoking one that was given back forgets it, editing it puts it into the composer. */
  | { readonly type: 'pending_edit'; readonly id: string; readonly text: string }
  | { readonly type: 'pending_revoke'; readonly id: string }
  | { readonly type: 'pending_recompose'; readonly id: string }
  | { readonly type: 'next_edit'; readonly id: string; readonly text: string }
  /** `before` null: to the end. */
  | { readonly type: 'next_move'; readonly id: string; readonly before: string | null }
  | { readonly type: 'next_remove'; readonly id: string }
  | { readonly type: 'next_send_now'; readonly id: string }
  | { readonly type: 'next_pause' }
  | { readonly type: 'next_resume' }
  /** What a message's menu offers; each asks and shows what will change first. */
  | {
      readonly type: 'message_action';
      readonly action: 'rollback' | 'restore' | 'fork' | 'truncate';
      readonly messageId: string;
    }
  /** The keyboard went to the page or left it: the editor does not tell its keybindings. */
  | { readonly type: 'focus'; readonly focused: boolean }
  | {
      readonly type: 'answer';
      readonly gateId: string;
      readonly optionId?: string;
      readonly content?: JsonObject;
      readonly declined?: boolean;
    }
  | { readonly type: 'load_before' }
  | { readonly type: 'complete'; readonly requestId: number; readonly query: string }
  | { readonly type: 'set_option'; readonly configId: string; readonly value: string | boolean }
  /** Sends the last prompt again, after a turn that ended with an error. */
  | { readonly type: 'retry'; readonly turnEndId: string }
  /** Files dropped on the composer (`text/uri-list`); answered by `compose` with attachments. */
  | { readonly type: 'resolve_uris'; readonly uris: readonly string[] }
  | { readonly type: 'open_attachment'; readonly uri: string; readonly range?: string }
  | { readonly type: 'open_location'; readonly path: string; readonly line?: number }
  | { readonly type: 'open_diff'; readonly toolCallId: string; readonly path: string }
  | { readonly type: 'open_output'; readonly toolCallId: string }
  | { readonly type: 'open_link'; readonly href: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'command'; readonly name: ChatCommand };
