import type { Actor, Control } from '../../../protocol/controls.ts';
import type { HostControls } from '../../host/controls/api.ts';
import type { Refusal } from '../../session/control/refusal.ts';
import { type Actors, observerRefused } from '../access/actors.ts';
import { namedSession } from './control-params.ts';

/** Refuses controls of ACP itself before they reach the host, each with its receipt (design §4.4). */
export class Refusals {
  readonly #controls: HostControls;
  readonly #actors: Actors;

  constructor(controls: HostControls, actors: Actors) {
    this.#controls = controls;
    this.#actors = actors;
  }

  /** What `read` makes of the params, and who acts. Throws what it throws, and refuses observers. */
  async owned<T>(control: Control, params: unknown, read: () => T): Promise<[T, Actor]> {
    const actor = this.#actors.of(params, namedSession(params) ?? undefined);
    if (actor.role === 'observer') {
      await this.refuse(control, params, 'observer_may_not_control', actor);
      throw observerRefused();
    }
    try {
      return [read(), actor];
    } catch (error) {
      await this.refuse(control, params, 'invalid_params', actor);
      throw error;
    }
  }

  async refuse(
    control: Control,
    params: unknown,
    refusal: Refusal,
    actor: Actor = this.#actors.of(params),
  ): Promise<void> {
    const sessionId = namedSession(params);
    const target = { actor, ...(sessionId === null ? {} : { sessionId }) };
    await this.#controls.refuse(control, target, refusal);
  }
}
