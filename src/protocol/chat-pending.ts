import type { ChatInjectMode } from './chat.ts';

/** A message that is on its way into a running turn, or one that came back; only a prompt that came back is `prompt`. */
export type ChatPending = {
  readonly id: string;
  readonly mode: ChatInjectMode | 'prompt';
  readonly text: string;
  /** Names of what goes with it, such as `format.ts:5-9`. */
  readonly attached: readonly string[];
  readonly state: 'pending' | 'behind_approval' | 'given_back';
  /** False where another client owns it: then it can't be edited here. */
  readonly editable: boolean;
};
