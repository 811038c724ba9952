import type { Event } from '../../base/emitter.ts';
import type { ChangedFile } from '../../protocol/listed-shapes.ts';
import type { HistoryPage, HistoryPageParams } from '../../protocol/pilothouse.ts';
import type { KeptStore } from './review/kept-changes.ts';

/** What the diff views need from the rest of the extension. */
export type DiffPorts = {
  readonly list: (sessionId: string) => Promise<readonly ChangedFile[]>;
  readonly text: (
    sessionId: string,
    path: string,
    side: 'before' | 'after',
  ) => Promise<string | null>;
  /** The files are of another machine: they are neither read nor written here. */
  readonly isElsewhere: (sessionId: string) => boolean;
  readonly page: (params: HistoryPageParams) => Promise<HistoryPage>;
  readonly sessionName: (sessionId: string) => string;
  /** Names of sessions changed. */
  readonly onDidChangeNames: Event<unknown>;
  /** The session in the chat, and when it becomes another. */
  readonly shownSession: () => string | null;
  readonly onDidShowSession: Event<void>;
  /** The session that a command is about: from its argument, else asked for; undefined if the person gave up. */
  readonly chooseSession: (argument: unknown) => Promise<string | undefined>;
  /** A session may have changed files. */
  readonly onDidChangeFiles: Event<{ readonly sessionId: string; readonly turnEnded: boolean }>;
  readonly onDidRemoveSession: Event<string>;
  /** The agent process is there (again). */
  readonly onDidConnect: Event<void>;
  readonly store: KeptStore;
  readonly log: (message: string) => void;
};
