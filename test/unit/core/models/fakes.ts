import type { Clock } from '../../../../src/base/clock.ts';
import type {
  Model,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ToolDefinition,
} from '../../../../src/core/session/model.ts';
import type { Log } from '../../../../src/core/session/ports.ts';
import type { MessageId, SessionId, TurnId } from '../../../../src/core/session/words.ts';

/** A clock whose sleeps end at once and only add up. */
export class LeapingClock implements Clock {
  elapsed = 0;

  now(): number {
    return this.elapsed;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.elapsed += ms;
  }
}

/** A clock that runs only when told to. */
export class ManualClock implements Clock {
  #now = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      const stop = (): void => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        reject(signal?.reason);
      };
      if (signal?.aborted === true) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter((one) => one.at <= this.#now);
    this.#sleepers = this.#sleepers.filter((one) => one.at > this.#now);
    for (const one of due) one.wake();
  }
}

/** Real time. */
export const wallClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

export class RecordingLog implements Log {
  readonly lines: string[] = [];

  debug(message: string, details?: object): void {
    this.#add(message, details);
  }
  info(message: string, details?: object): void {
    this.#add(message, details);
  }
  warn(message: string, details?: object): void {
    this.#add(message, details);
  }
  error(message: string, details?: object): void {
    this.#add(message, details);
  }
  #add(message: string, details?: object): void {
    this.lines.push(`${message} ${JSON.stringify(details ?? {})}`);
  }
}

export const session = { sessionId: 'session-1' as SessionId };

export function user(
  text: string,
  origin: Extract<ModelMessage, { role: 'user' }>['origin'] = 'prompt',
): ModelMessage {
  return {
    role: 'user',
    messageId: `user-${text.length}` as MessageId,
    origin,
    parts: [{ type: 'text', text }],
  };
}

export function tools(...names: readonly string[]): ToolDefinition[] {
  return names.map((name) => ({
    name,
    description: `The ${name} tool`,
    inputSchema: { type: 'object' },
  }));
}

export const ALL_TOOLS = tools(
  'read',
  'write',
  'edit',
  'list',
  'search',
  'run',
  'process_start',
  'plan',
  'ask',
  'delegate',
);

export function request(
  messages: readonly ModelMessage[],
  changes: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    sessionId: session.sessionId,
    turnId: 'turn-1' as TurnId,
    model: 'script',
    system: 'Be exact.',
    messages,
    tools: ALL_TOOLS,
    thoughtLevel: 'auto',
    attempt: 1,
    ...changes,
  };
}

export async function collect(
  model: Model,
  what: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(what, signal)) events.push(event);
  return events;
}

/** The error that `run` rejects with; fails when it does not reject. */
export async function rejection(run: Promise<unknown>): Promise<unknown> {
  return await run.then(
    () => {
      throw new TypeError('It was expected to fail.');
    },
    (error: unknown) => error,
  );
}
