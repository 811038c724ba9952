import type { Control } from '../../../protocol/controls.ts';
import type { Reply } from '../../../protocol/transport/rpc-types.ts';
import type { Client, LiveSession } from '../../host/api.ts';
import type { ControlTarget, HostControls } from '../../host/controls/api.ts';
import type * as checks from '../generated/schema-checks.mjs';
import type { ErrorFamily } from './control-errors.ts';

/** What a control's method acts on. */
export type ControlRoom = {
  readonly controls: HostControls;
  readonly client: Client;
  /** Makes the client follow a session that a control made, and shows it as `session/new` does. */
  readonly join: (
    live: LiveSession,
  ) => Promise<{ readonly result: object; readonly goLive: () => void }>;
  /** Sends an update of a session. */
  readonly tell: (sessionId: string, update: ForkNews) => void;
};

/** Tells that a session is a copy of another. Source: Harn session control, fork. */
export type ForkNews = {
  readonly sessionUpdate: 'session_info_update';
  readonly title?: string;
  readonly _meta: { readonly [key: string]: unknown };
};

/** A method that is a control. */
export type ControlMethod = {
  readonly control: Control;
  readonly check: checks.SchemaCheck;
  readonly family: ErrorFamily;
  readonly run: (params: unknown, target: ControlTarget, room: ControlRoom) => Promise<Reply>;
};

/** Binds a method to the type that its check proves. */
export function controlMethod<P>(
  control: Control,
  check: checks.SchemaCheck,
  family: ErrorFamily,
  run: (params: P, target: ControlTarget, room: ControlRoom) => Promise<Reply>,
): ControlMethod {
  // The params have passed `check` when they get here.
  return { control, check, family, run: (params, ...rest) => run(params as P, ...rest) };
}
