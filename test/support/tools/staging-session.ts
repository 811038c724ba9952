import type { Disposable } from '../../../src/base/disposables.ts';
import { Emitter } from '../../../src/base/emitter.ts';
import { foldSession } from '../../../src/core/host/fold-session.ts';
import { StagedFiles, type StagingSession } from '../../../src/core/host/staged/staged-files.ts';
import type { ControlEvent } from '../../../src/core/session/control-events.ts';
import type { EphemeralEvent } from '../../../src/core/session/ephemeral-events.ts';
import type { HistoryEvent, SessionSignal } from '../../../src/core/session/events.ts';
import type { Journal, NewRecord } from '../../../src/core/session/ports.ts';
import type { DocumentFiles, Workspace } from '../../../src/core/session/tool.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';

/** The part of a session that staged files need, over a journal; its calls are in the history as the engine puts them. */
export class JournaledSession implements StagingSession {
  readonly ephemeral: EphemeralEvent[] = [];
  /** Fails the next record of this type, as a process does that ends before it is stored. */
  crashBefore: ControlEvent['type'] | null = null;
  readonly #sessionId: SessionId;
  readonly #journal: Journal;
  readonly #signals = new Emitter<SessionSignal>((error) => {
    throw error;
  });

  constructor(sessionId: SessionId, journal: Journal) {
    this.#sessionId = sessionId;
    this.#journal = journal;
  }

  async recordControl(...events: readonly ControlEvent[]): Promise<void> {
    if (events.some(({ type }) => type === this.crashBefore)) throw new Error('crashed');
    await this.#append(events.map((event) => ({ stream: 'control', event })));
  }

  async history(...events: readonly HistoryEvent[]): Promise<void> {
    await this.#append(events.map((event) => ({ stream: 'history', event })));
  }

  async started(toolCallId: string): Promise<ToolCallId> {
    const id = toolCallId as ToolCallId;
    await this.history({ type: 'tool_started', turnId: 'turn' as TurnId, toolCallId: id });
    return id;
  }

  announce(event: EphemeralEvent): void {
    this.ephemeral.push(event);
  }

  subscribe(listener: (signal: SessionSignal) => void): { readonly subscription: Disposable } {
    return { subscription: this.#signals.event(listener) };
  }

  async #append(records: readonly NewRecord[]): Promise<void> {
    const stored = await this.#journal.append(this.#sessionId, records);
    for (const each of stored) this.#signals.fire(each);
  }
}

/** A session's staged files, rebuilt from what is stored, as after a start. */
export async function stagedFilesOf(
  journal: Journal,
  sessionId: SessionId,
  workspace: Workspace,
  documents: DocumentFiles,
): Promise<{ staged: StagedFiles; session: JournaledSession }> {
  const { staged: state } = await foldSession(journal, sessionId);
  const staged = new StagedFiles(state, { workspace, documents });
  const session = new JournaledSession(sessionId, journal);
  staged.attach(session);
  return { staged, session };
}
