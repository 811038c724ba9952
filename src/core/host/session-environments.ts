import type { Disposable } from '../../base/disposables.ts';
import type { EnvironmentPolicy, SessionId } from '../session/words.ts';
import { onlyProgramOf } from '../tools/run/only-program.ts';
import {
  checkEnvironmentPolicy,
  environmentFor,
  minimumEnvironment,
  parseEnvironmentPolicy,
} from './environment-policy.ts';

/**
 * What the children of each live session see of the environment of the client that made it or brought it to life again
 * (or of the host, where a client has none of its own). It is a snapshot of that moment: values are never stored. A session that is not here sees only the minimum.
 */
export class SessionEnvironments {
  readonly #host: NodeJS.ProcessEnv;
  readonly #open = new Map<
    SessionId,
    { readonly policy: EnvironmentPolicy; readonly host: NodeJS.ProcessEnv }
  >();

  constructor(host: NodeJS.ProcessEnv) {
    this.#host = host;
  }

  /** What helpers of the host itself get. */
  get minimum(): NodeJS.ProcessEnv {
    return minimumEnvironment(this.#host);
  }

  /** Throws `host.bad_environment` if the policy is not understood whole or this host can't keep it. */
  check(policy: EnvironmentPolicy, from = this.#host): void {
    // Doors check loosely; here nothing that is not understood gets through.
    checkEnvironmentPolicy(parseEnvironmentPolicy(policy), from);
  }

  /** Takes the snapshot of a session; disposing forgets it. */
  open(sessionId: SessionId, policy: EnvironmentPolicy, from = this.#host): Disposable {
    const opened = { policy, host: { ...from } };
    this.#open.set(sessionId, opened);
    return {
      dispose: () => {
        if (this.#open.get(sessionId) === opened) this.#open.delete(sessionId);
      },
    };
  }

  /** For a shell command: what is granted to one program is seen only by a command that runs nothing else. */
  ofCommand(sessionId: SessionId, command: string): NodeJS.ProcessEnv {
    return this.ofProgram(sessionId, onlyProgramOf(command));
  }

  /** For a program that is started without a shell. */
  ofProgram(sessionId: SessionId, program: string | null): NodeJS.ProcessEnv {
    const opened = this.#open.get(sessionId);
    return opened === undefined
      ? this.minimum
      : environmentFor(opened.policy, opened.host, program);
  }
}
