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
 * What the children of each live session see of this host's environment. A session's view is a snapshot of the moment
 * it was made (or brought to life again: values are never stored). A session that is not here sees only the minimum.
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
  check(policy: EnvironmentPolicy): void {
    // Doors check loosely; here nothing that is not understood gets through.
    checkEnvironmentPolicy(parseEnvironmentPolicy(policy), this.#host);
  }

  /** Takes the snapshot of a session; disposing forgets it. */
  open(sessionId: SessionId, policy: EnvironmentPolicy): Disposable {
    const opened = { policy, host: { ...this.#host } };
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
