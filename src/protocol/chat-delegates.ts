import type { ChatItem } from './chat.ts';

/*
 * Delegates in the chat. A call that began one carries who it is; what the delegate says and does is a list of rows of
 * its own, fetched when the person unfolds it and forgotten when they fold it. The extension keeps a few such lists at
 * most: `delegate_closed` says that one is not kept up any more.
 */

/** The delegate that a call began. */
export type ChatDelegate = {
  readonly loopId: string;
  readonly name: string;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
  /** Its parent goes on meanwhile, and is told the result later. */
  readonly background: boolean;
  /** What it was asked to do; empty where that is not known. */
  readonly prompt: string;
  /** The row in which its parent read the result, where it came by itself and is loaded. */
  readonly resultRow?: string;
};

/** A call, of the delegate with this loop if there is one. */
export type ChatCallRef = { readonly toolCallId: string; readonly loopId?: string | undefined };

/** The delegate that messages go to instead of the main agent. */
export type ChatTalk = { readonly loopId: string; readonly name: string };

/** The result of a background delegate, where its parent read it. */
export type ChatHandBack = {
  readonly kind: 'hand_back';
  readonly id: string;
  /** Empty where it is not known. */
  readonly name: string;
  /** Markdown. */
  readonly text: string;
  /** The call that began the delegate, where it is loaded. */
  readonly toolCallId?: string;
};

/** Extension → webview. */
export type DelegateToChat =
  /** Answers `delegate_open`: the newest rows. `more`: there are older ones, in its transcript. */
  | {
      readonly type: 'delegate_rows';
      readonly loopId: string;
      readonly items: readonly ChatItem[];
      readonly more: boolean;
    }
  /** Rows were added or replaced. */
  | {
      readonly type: 'delegate_upsert';
      readonly loopId: string;
      readonly items: readonly ChatItem[];
    }
  /** As `append` of the conversation. */
  | {
      readonly type: 'delegate_append';
      readonly loopId: string;
      readonly id: string;
      readonly field: 'text' | 'output';
      readonly offset: number;
      readonly text: string;
    }
  /** Its rows are not kept up any more; `error` says why if they could not be read. */
  | { readonly type: 'delegate_closed'; readonly loopId: string; readonly error?: string };

/** Webview → extension. */
export type DelegateFromChat =
  | { readonly type: 'delegate_open'; readonly loopId: string }
  | { readonly type: 'delegate_close'; readonly loopId: string }
  /** Ends this delegate alone. */
  | { readonly type: 'delegate_stop'; readonly loopId: string }
  /** Shows everything that it said and did, as a document. */
  | { readonly type: 'delegate_transcript'; readonly loopId: string }
  /** Messages go to it from here on; null: to the main agent again. */
  | { readonly type: 'talk_to'; readonly loopId: string | null };
