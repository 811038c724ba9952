import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { StagedChange } from '../../protocol/listed-shapes.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import type { AgentConnection } from '../core/connection.ts';
import type { SessionHub } from '../sessions/session-hub.ts';

/** Whether a session's edits wait for a review, and which do. */
export type StagedState = {
  readonly mode: 'immediate' | 'staged';
  readonly files: readonly StagedChange[];
};

const NOTHING: StagedState = { mode: 'immediate', files: [] };

/** What the store needs from outside. */
export type StagedStorePorts = {
  readonly hub: SessionHub;
  readonly calls: ClientCalls;
  /** The agent process of the session's host, if it runs: a list is not worth starting it. */
  readonly connection: (sessionId: string) => AgentConnection | null;
  readonly log: (message: string) => void;
};

/** The staged edits of the sessions that are open here, as the agent last told. */
export class StagedStore implements Disposable {
  readonly #ports: StagedStorePorts;
  readonly #states = new Map<string, StagedState>();
  readonly #changed = new Emitter<string>();
  readonly #store = new DisposableStore();

  /** Fires with the session whose mode or staged files changed. */
  readonly onDidChange = this.#changed.event;

  constructor(ports: StagedStorePorts) {
    this.#ports = ports;
    this.#store.add(this.#changed);
    this.#store.add(
      ports.hub.onDidChange(({ session, change }) => {
        if (change.kind === 'reset') this.#refreshSoon(session.sessionId);
      }),
    );
    this.#store.add(
      ports.hub.onDidRemove((sessionId) => {
        if (this.#states.delete(sessionId)) this.#changed.fire(sessionId);
      }),
    );
    this.#store.add(
      ports.calls.onNotification('_pilothouse/staged_changed', (params) => {
        if (isObject(params) && typeof params['sessionId'] === 'string')
          this.#refreshSoon(params['sessionId']);
      }),
    );
  }

  of(sessionId: string): StagedState {
    return this.#states.get(sessionId) ?? NOTHING;
  }

  /** Asks for the list again. Rejects if the agent can't be asked. */
  async refresh(sessionId: string): Promise<StagedState> {
    const connection = this.#ports.connection(sessionId);
    if (!connection) return this.of(sessionId);
    const state = await connection.request('_pilothouse/staged/list', { sessionId });
    this.#states.set(sessionId, state);
    this.#changed.fire(sessionId);
    return state;
  }

  #refreshSoon(sessionId: string): void {
    this.refresh(sessionId).then(undefined, (error: unknown) =>
      this.#ports.log(`staged edits of ${sessionId} are not known: ${messageOf(error)}`),
    );
  }

  dispose(): void {
    this.#store.dispose();
  }
}
