import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { ChangeCheck } from './control/loop-change.ts';
import type { ModelCatalog } from './model.ts';
import type { Journal, Log } from './ports.ts';
import type {
  Delegates,
  DocumentFiles,
  Policy,
  Processes,
  Tool,
  TurnPreparation,
  Workspace,
} from './tool.ts';

/** What a session needs from the world; one set serves all sessions of a host. */
export type SessionDeps = {
  readonly journal: Journal;
  readonly models: ModelCatalog;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Which changes of a loop are allowed; missing: all. */
  readonly checkChange?: ChangeCheck;
  /** False: delivered messages carry no authority. For proving what authority does; missing is true. */
  readonly directives?: boolean;
  /** SHA-256 of UTF-8 text, lower-case hexadecimal. */
  readonly digest: (text: string) => string;
};

/** What belongs to one session alone. */
export type SessionResources = {
  readonly workspace: Workspace;
  readonly files: DocumentFiles;
  readonly processes: SessionProcesses;
  /** Keeps the files as turns find and leave them; missing where nothing is kept. */
  readonly checkpoints?: Checkpoints;
  /** Missing where this loop may have none. */
  readonly delegates?: Delegates;
  /** The tools of the next turn; external ones come and go between turns. */
  readonly tools: () => readonly Tool[];
  /**
   * Runs before a turn takes its snapshot of tools: external ones may be about to arrive or want a sign-in. Must not
   * reject, and must be quick but for the person.
   */
  readonly prepareTurn?: (turn: TurnPreparation) => Promise<void>;
  /** The system prompt; the same text for the whole life of the session. */
  readonly system: string;
  /** What a slash command stands for, or null if the text is no command. */
  readonly expand: (text: string) => string | null;
};

/** The background processes of a session, with what its owner needs on top. */
export interface SessionProcesses extends Processes {
  /** Kills every process group of the session. Resolves when they are gone; bounded. */
  stopAll(): Promise<void>;
}
