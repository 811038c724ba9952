import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import type { RememberingPolicy } from '../../tools/policy/create-policy.ts';
import { createLauncher, type Launcher } from '../../tools/run/launcher.ts';
import type { Sandbox } from '../../tools/run/sandbox.ts';
import type { BuiltinTools } from '../session-resources.ts';
import type { ToolRoomParts, ToolRooms } from './tool-rooms.ts';

const NOT_YET: Sandbox = { available: false, reason: 'It was not looked for yet.' };

/**
 * The built-in tools and the policy before them. Their code is a good part of the program and no start needs it: it
 * is loaded once, at the latest before the first turn.
 */
export class LateTools implements BuiltinTools {
  readonly launcher: Launcher;
  readonly policy: RememberingPolicy;
  readonly #parts: ToolRoomParts;
  readonly #log: Log;
  #opening: Promise<ToolRooms> | null = null;
  #rooms: ToolRooms | null = null;

  constructor(
    parts: Omit<ToolRoomParts, 'launcher'> & {
      /** What a command of a session sees. */
      readonly environmentOf: (sessionId: SessionId, command: string) => NodeJS.ProcessEnv;
    },
  ) {
    this.#log = parts.log;
    this.launcher = createLauncher({
      environment: parts.environmentOf,
      sandbox: () => this.#rooms?.sandbox ?? NOT_YET,
    });
    this.#parts = { ...parts, launcher: this.launcher };
    this.policy = latePolicy(
      async () => (await this.#open()).policy,
      () => this.#rooms?.policy,
    );
  }

  list(): ToolRooms['tools'] {
    return this.#rooms?.tools ?? [];
  }

  async ready(): Promise<void> {
    try {
      await this.#open();
    } catch (failure) {
      this.#log.error('The tools could not be loaded; sessions go on without them', {
        error: messageOf(failure),
      });
    }
  }

  #open(): Promise<ToolRooms> {
    this.#opening ??= this.#load();
    return this.#opening;
  }

  async #load(): Promise<ToolRooms> {
    const { openToolRooms } = await import('./tool-rooms.ts');
    this.#rooms = await openToolRooms(this.#parts);
    return this.#rooms;
  }
}

/** The policy as soon as it is there; what it has not loaded it has not remembered. */
function latePolicy(
  open: () => Promise<RememberingPolicy>,
  loaded: () => RememberingPolicy | undefined,
): RememberingPolicy {
  return {
    decide: async (call) => (await open()).decide(call),
    remember: async (...args) => (await open()).remember(...args),
    listRules: async (...args) => (await open()).listRules(...args),
    resetRules: async (...args) => (await open()).resetRules(...args),
    forgetSession: (sessionId) => loaded()?.forgetSession(sessionId),
    problem: () => loaded()?.problem() ?? null,
  };
}
