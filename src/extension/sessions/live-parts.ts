import type { AgentConnection } from '../core/connection.ts';
import { SessionDelegates } from '../delegates/session-delegates.ts';
import { SessionClients } from './clients/session-clients.ts';
import { Durability } from './control/durability.ts';
import { SessionControls } from './control/session-controls.ts';
import { Waiting } from './control/waiting.ts';
import { WaitingFeed } from './control/waiting-feed.ts';
import type { LiveChange, LiveSessionPorts } from './live-types.ts';

/** What the parts of a session that is open here need of the whole. */
export type LiveWhole = {
  readonly sessionId: string;
  readonly ports: LiveSessionPorts;
  readonly signal: AbortSignal;
  readonly isRunning: () => boolean;
  readonly connection: () => AgentConnection | null;
  readonly fire: (change: LiveChange) => void;
};

/** The parts of a session that is open here, each with a business of its own. */
export type LiveParts = {
  /** What waits for the running turn and for later ones. */
  readonly waiting: Waiting;
  readonly feed: WaitingFeed;
  readonly controls: SessionControls;
  readonly durability: Durability;
  readonly delegates: SessionDelegates;
  readonly clients: SessionClients;
};

/** Builds them. */
export function liveParts(whole: LiveWhole): LiveParts {
  const { sessionId, ports, fire, isRunning, connection } = whole;
  const { connect, log, newId, clock } = ports;
  const waiting = new Waiting();
  const changed = (): void => fire({ kind: 'status' });
  const shared = { sessionId, waiting, changed };
  const durability = new Durability({ ...shared, connect, log });
  return {
    waiting,
    durability,
    feed: new WaitingFeed({ ...shared, isRunning, log }),
    controls: new SessionControls({
      ...shared,
      newId,
      connect,
      refused: (error) => durability.notice(error),
    }),
    clients: new SessionClients({ sessionId, connect, changed, log }),
    delegates: new SessionDelegates(
      {
        ...{ sessionId, clock, newId, connect, log, connection },
        changed: () => fire({ kind: 'delegates' }),
        told: (message) => fire({ kind: 'delegate_rows', message }),
      },
      whole.signal,
    ),
  };
}
