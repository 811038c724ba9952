import type { SessionDeps } from '../session/deps.ts';
import type { SessionId } from '../session/words.ts';
import type { ExportJournal } from './export/export-session.ts';
import type { ImportJournal } from './import/import-session.ts';
import type { MakerParts } from './session-maker.ts';

/** The store as the host needs it: the engine's journal and what proves it. */
export interface HostJournal extends ExportJournal, ImportJournal {
  hashAt(sessionId: SessionId, eventId: number): Promise<string | null>;
  verify(
    sessionId: SessionId,
    stream: 'history' | 'control',
  ): Promise<{ ok: true } | { ok: false; seq: number; reason: string }>;
}

/** What the host is made of. */
export type HostParts = MakerParts & {
  readonly deps: SessionDeps & { readonly journal: HostJournal };
  /** How long a session that nobody follows and that does nothing is kept warm, in milliseconds; missing: 30 s. */
  readonly graceMs?: number;
  /** Removes what the log holds of a deleted session. */
  readonly forgetInLog: (sessionId: SessionId) => void;
  /** Removes what is kept of a deleted session's files. */
  readonly forgetFiles: (sessionId: SessionId) => Promise<void>;
};
