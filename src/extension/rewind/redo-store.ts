import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { AgentConnection } from '../core/connection.ts';
import type { HubChange, SessionHub } from '../sessions/session-hub.ts';

/** What the store needs from outside. */
export type RedoStorePorts = {
  readonly hub: SessionHub;
  /** The agent process of the session's host, if it runs. */
  readonly connection: (sessionId: string) => AgentConnection | null;
  readonly log: (message: string) => void;
};

/** Controls that may end or begin what can be redone. Source: Harn session control, turn checkpoints. */
const TOUCHES_REDO: ReadonlySet<string> = new Set([
  'session/rollback',
  'session/redo',
  'session/truncate',
  'session/fs_commit_staged',
  'session/fs_discard_staged',
  'session/restore_tool_call',
  '_pilothouse/checkpoints/restore',
  '_pilothouse/staged/edit',
]);

/** Which of the sessions that are open here have a rollback that can be redone. */
export class RedoStore implements Disposable {
  readonly #ports: RedoStorePorts;
  readonly #redoable = new Set<string>();
  readonly #changed = new Emitter<string>();
  readonly #store = new DisposableStore();

  /** Fires with the session for which it changed. */
  readonly onDidChange = this.#changed.event;

  constructor(ports: RedoStorePorts) {
    this.#ports = ports;
    this.#store.add(this.#changed);
    this.#store.add(ports.hub.onDidChange((change) => this.#sessionChanged(change)));
    this.#store.add(ports.hub.onDidRemove((sessionId) => this.#redoable.delete(sessionId)));
  }

  canRedo(sessionId: string): boolean {
    return this.#redoable.has(sessionId);
  }

  #sessionChanged({ session, change }: HubChange): void {
    const mayDiffer =
      change.kind === 'reset' ||
      (change.kind === 'turn_ended' && this.canRedo(session.sessionId)) ||
      (change.kind === 'receipt' && TOUCHES_REDO.has(change.receipt.method));
    if (!mayDiffer) return;
    this.#refresh(session.sessionId).then(undefined, (error: unknown) =>
      this.#ports.log(`what can be redone is not known: ${messageOf(error)}`),
    );
  }

  async #refresh(sessionId: string): Promise<void> {
    const connection = this.#ports.connection(sessionId);
    if (!connection) return;
    const { checkpoints } = await connection.request('_pilothouse/checkpoints/list', { sessionId });
    const can = checkpoints.some(({ state }) => state === 'redo');
    if (can === this.canRedo(sessionId)) return;
    if (can) this.#redoable.add(sessionId);
    else this.#redoable.delete(sessionId);
    this.#changed.fire(sessionId);
  }

  dispose(): void {
    this.#store.dispose();
  }
}
