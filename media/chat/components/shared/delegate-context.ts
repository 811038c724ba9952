import { type ComponentType, createContext } from 'preact';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import type { DelegateViews } from '../../state/delegate-rows.ts';

/** What the cards of delegates draw besides their calls. */
export type Delegates = {
  readonly views: DelegateViews;
  /** Loops that a question is open of. */
  readonly asking: ReadonlySet<string>;
  /** Loops that work now. */
  readonly atWork: ReadonlySet<string>;
  /** The loop that messages go to; null: the main agent's. */
  readonly talksTo: string | null;
  /** How often the page was laid anew: what is unfolded has to be asked for again then. */
  readonly resets: number;
  /** Draws a row. It is handed down, as rows draw the cards that draw rows. */
  readonly Row: ComponentType<RowProps> | null;
};

type RowProps = {
  readonly item: ChatItem;
  readonly mayRetry: boolean;
  readonly unknown: number;
};

export const DelegatesContext = createContext<Delegates>({
  views: new Map(),
  asking: new Set(),
  atWork: new Set(),
  talksTo: null,
  resets: 0,
  Row: null,
});

/** The loop whose rows these are; null for the session's own. */
export const LoopContext = createContext<string | null>(null);

/** True inside the rows of a delegate: what acts on the session's own conversation is not offered there. */
export const NestedContext = createContext(false);
