import type { Clock } from '../../../base/clock.ts';
import type { Model, ModelEvent, ModelInfo, ModelRequest } from '../../session/model.ts';
import type { ModelSource } from '../source.ts';
import { play } from './play.ts';
import { replyTo } from './reply.ts';
import { usageOf } from './usage.ts';

const SCRIPT: ModelInfo = {
  id: 'rehearsal/script',
  name: 'Rehearsal (no AI)',
  description: 'Follows your message as a script, offline: for trying the controls and for tests.',
  contextTokens: 1_000_000,
  images: false,
  available: true,
};

const INSTANT: ModelInfo = {
  ...SCRIPT,
  id: 'rehearsal/instant',
  name: 'Rehearsal, instant (no AI)',
  description: 'The rehearsal model without any delay, for benchmarks.',
};

class RehearsalModel implements Model {
  readonly info: ModelInfo;
  readonly #clock: Clock | null;

  constructor(info: ModelInfo, clock: Clock | null) {
    this.info = info;
    this.#clock = clock;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const reply = replyTo(request, this.#clock === null);
    let length = 0;
    for await (const event of play(reply, this.#clock, signal)) {
      if (event.type === 'text' || event.type === 'thought') length += event.text.length;
      yield event;
    }
    yield { type: 'finish', reason: reply.finish, usage: usageOf(request, length) };
  }
}

/**
 * The embedded model: no network, no AI (design §7). `rehearsal/script` takes the time that a person needs to see
 * it work; `rehearsal/instant` takes none, also knows `stream N chunks`, and is listed only with `listInstant`.
 */
export function createRehearsalSource(options: {
  readonly clock: Clock;
  readonly listInstant?: boolean;
}): ModelSource {
  const script = new RehearsalModel(SCRIPT, options.clock);
  const instant = new RehearsalModel(INSTANT, null);
  return {
    id: 'rehearsal',
    list: async () => (options.listInstant === true ? [SCRIPT, INSTANT] : [SCRIPT]),
    resolve: async (name) => {
      if (name === 'script') return script;
      return name === 'instant' ? instant : null;
    },
  };
}
