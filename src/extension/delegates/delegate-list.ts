import type { DelegateMark } from '../../protocol/acp-meta.ts';
import type { ListedLoop } from '../../protocol/pilothouse.ts';

/** What a delegate is doing, or how it ended what it was given last. `idle`: it does nothing, the rest is not known. */
export type DelegateState =
  | 'waiting'
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'interrupted'
  | 'idle';

/** A delegate of a session, at any depth. */
export type Delegate = {
  readonly sessionId: string;
  readonly loopId: string;
  readonly parentLoopId: string;
  readonly name: string;
  readonly state: DelegateState;
  /** The beginning of what it was asked to do. */
  readonly prompt: string;
  /** The call of its parent that began it; null if that is not known. */
  readonly toolCallId: string | null;
  /** Messages go to it instead of to the main agent. */
  readonly isActive: boolean;
};

type Entry = {
  readonly loopId: string;
  readonly parentLoopId: string;
  readonly name: string;
  prompt: string;
  toolCallId: string | null;
  busy: 'running' | 'waiting' | null;
  outcome: Exclude<DelegateMark['state'], 'running'> | null;
};

/** The list as the agent gives it. */
export type LoopList = {
  readonly activeLoopId: string;
  readonly loops: readonly ListedLoop[];
};

/** The delegates of one session: what the agent lists, and what came since. They stay in the order of their beginning. */
export class DelegateList {
  readonly sessionId: string;
  #entries = new Map<string, Entry>();
  readonly #outcomes = new Map<string, NonNullable<Entry['outcome']>>();
  #activeLoopId: string;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.#activeLoopId = sessionId;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The loops of those that do something now. */
  get atWork(): readonly string[] {
    const busy = [...this.#entries.values()].filter((entry) => entry.busy !== null);
    return busy.map(({ loopId }) => loopId);
  }

  /** The delegate that messages go to; null: the main agent. */
  get active(): Delegate | null {
    return this.get(this.#activeLoopId);
  }

  /** All of them, in the order in which they were begun; parents before their own. */
  all(): readonly Delegate[] {
    return [...this.#entries.values()].map((entry) => this.#shown(entry));
  }

  /** Those that a loop began itself; the session's own id names the main agent's. */
  below(loopId: string): readonly Delegate[] {
    return this.all().filter((one) => one.parentLoopId === loopId);
  }

  get(loopId: string): Delegate | null {
    const entry = this.#entries.get(loopId);
    return entry ? this.#shown(entry) : null;
  }

  /** The delegate itself and those above it, the main agent's first. */
  path(loopId: string): readonly Delegate[] {
    const one = this.get(loopId);
    return one ? [...this.path(one.parentLoopId), one] : [];
  }

  /** Takes the agent's list: it knows all of them and their order. */
  set({ activeLoopId, loops }: LoopList): void {
    const entries = new Map<string, Entry>();
    for (const loop of loops) {
      if (loop.parentLoopId === null) continue;
      const known = this.#entries.get(loop.loopId);
      const busy = loop.state === 'running' || loop.state === 'waiting' ? loop.state : null;
      entries.set(loop.loopId, {
        loopId: loop.loopId,
        parentLoopId: loop.parentLoopId,
        name: loop.name,
        prompt: loop.prompt || (known?.prompt ?? ''),
        toolCallId: loop.toolCallId ?? known?.toolCallId ?? null,
        busy,
        outcome: this.#outcomes.get(loop.loopId) ?? null,
      });
    }
    this.#entries = entries;
    this.#activeLoopId = activeLoopId;
  }

  /** Something came from a delegate: it is known from now on. True if it was not before. */
  meet(news: {
    readonly loopId: string;
    readonly parentLoopId: string;
    readonly name: string;
  }): boolean {
    if (this.#entries.has(news.loopId)) return false;
    const { loopId, parentLoopId, name } = news;
    const outcome = this.#outcomes.get(loopId) ?? null;
    this.#entries.set(loopId, {
      loopId,
      parentLoopId,
      name,
      prompt: '',
      toolCallId: null,
      busy: 'running',
      outcome,
    });
    return true;
  }

  /** A call says what its delegate does. True if that changed anything. */
  mark(mark: DelegateMark, parentLoopId: string, toolCallId: string | null): boolean {
    const { loopId, name, state, prompt } = mark;
    const isNew = name !== undefined && this.meet({ loopId, parentLoopId, name });
    if (state === 'running') this.#outcomes.delete(loopId);
    else this.#outcomes.set(loopId, state);
    const entry = this.#entries.get(loopId);
    if (!entry) return false;
    const before = JSON.stringify(entry);
    entry.outcome = this.#outcomes.get(loopId) ?? null;
    entry.busy = state === 'running' ? (entry.busy ?? 'running') : null;
    entry.prompt ||= prompt ?? '';
    entry.toolCallId ??= toolCallId;
    return isNew || JSON.stringify(entry) !== before;
  }

  /** A turn of the delegate began or ended, or a question of it was opened or answered. True if that changed anything. */
  setBusy(loopId: string, busy: 'running' | 'waiting' | null): boolean {
    const entry = this.#entries.get(loopId);
    if (!entry || entry.busy === busy) return false;
    entry.busy = busy;
    return true;
  }

  /** The agent is gone: nothing runs. */
  lost(): void {
    for (const entry of this.#entries.values()) entry.busy = null;
  }

  #shown(entry: Entry): Delegate {
    const { loopId, parentLoopId, name, prompt, toolCallId, busy, outcome } = entry;
    return {
      sessionId: this.sessionId,
      loopId,
      parentLoopId,
      name,
      state: busy ?? outcome ?? 'idle',
      prompt,
      toolCallId,
      isActive: loopId === this.#activeLoopId,
    };
  }
}
