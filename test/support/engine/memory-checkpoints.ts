import { CodedError } from '../../../src/base/errors.ts';
import type {
  Checkpoints,
  Effect,
  EndedTurn,
  RestorePlan,
  RestoreTarget,
} from '../../../src/core/session/checkpoints.ts';
import type {
  CheckpointFiles,
  FileDifference,
  RestoredFiles,
} from '../../../src/core/session/control-events.ts';
import type { ToolCallId, TurnId } from '../../../src/core/session/words.ts';

type Files = ReadonlyMap<string, string>;

/** A folder in memory and what its turns did to it; keeps the promises of the real room. */
export class MemoryCheckpoints implements Checkpoints {
  readonly files = new Map<string, string>();
  /** The next restore fails when set. */
  failure: CodedError | null = null;
  /** Awaited by each restore before it does anything. */
  gate: Promise<void> = Promise.resolve();
  restores = 0;
  /** Restores that a restart would take back. */
  unsettled = 0;
  /** What can't be kept, from now on. */
  lacks: string | null = null;
  readonly #states = new Map<string, Files>();
  readonly #turns = new Map<TurnId, string>();
  readonly #calls = new Map<ToolCallId, string>();

  async beforeEffect({ turnId, toolCallId }: Effect): Promise<string | null> {
    const state = this.#keep();
    this.#calls.set(toolCallId, state);
    if (!this.#turns.has(turnId)) this.#turns.set(turnId, state);
    return this.lacks;
  }

  async endTurn(turnId: TurnId): Promise<EndedTurn | null> {
    const files = await this.recoverTurn(turnId);
    return files === null ? null : { files, lacks: this.lacks };
  }

  async recoverTurn(turnId: TurnId): Promise<CheckpointFiles | null> {
    const before = this.#turns.get(turnId);
    if (before === undefined) return null;
    const changed = differences(this.#state(before), this.files);
    return { before, after: this.#keep(), coverage: 'full', changed };
  }

  async keep(): Promise<CheckpointFiles> {
    if (this.lacks !== null) throw new CodedError('checkpoint.unreadable', this.lacks);
    const state = this.#keep();
    return { before: state, after: state, coverage: 'full', changed: [] };
  }

  async plan(target: RestoreTarget): Promise<RestorePlan> {
    const then = this.#then(target);
    const left = this.#left(target);
    return {
      coverage: 'full',
      files: differences(this.files, then).map((difference) => ({
        ...difference,
        changedSince:
          left !== null && left.get(difference.path) !== this.files.get(difference.path),
        binary: false,
      })),
    };
  }

  async restore(
    target: RestoreTarget,
    overwrite: 'all' | readonly string[],
  ): Promise<RestoredFiles> {
    await this.gate;
    this.restores += 1;
    if (this.failure !== null) throw this.failure;
    this.unsettled = 1;
    const undo = this.#keep();
    const then = this.#then(target);
    const restored: string[] = [];
    const skipped: { path: string; reason: string }[] = [];
    for (const { path, changedSince } of (await this.plan(target)).files) {
      if (changedSince && overwrite !== 'all' && !overwrite.includes(path)) {
        skipped.push({ path, reason: 'changed since' });
        continue;
      }
      const text = then.get(path);
      if (text === undefined) this.files.delete(path);
      else this.files.set(path, text);
      restored.push(path);
    }
    return { undo, restored, skipped };
  }

  async settled(): Promise<void> {
    this.unsettled = 0;
  }

  async recover(): Promise<void> {
    this.unsettled = 0;
  }

  async read(target: RestoreTarget, path: string, side: 'now' | 'then') {
    const text = (side === 'now' ? this.files : this.#then(target)).get(path);
    return text === undefined ? null : new TextEncoder().encode(text);
  }

  #keep(): string {
    const name = `state${this.#states.size}`;
    this.#states.set(name, new Map(this.files));
    return name;
  }

  #state(name: string): Files {
    const state = this.#states.get(name);
    if (state === undefined) throw new CodedError('checkpoint.unknown', `No state ${name}`);
    return state;
  }

  #then(target: RestoreTarget): Files {
    if (target.kind === 'undo') return this.#state(target.undo);
    if (target.kind === 'call') return this.#state(this.#calls.get(target.toolCallId) ?? '');
    if (target.kind === 'kept') return this.#state(target.files.after);
    return this.#state(target.turns[0]?.before ?? '');
  }

  #left(target: RestoreTarget): Files | null {
    const turns = target.kind === 'turns' || target.kind === 'kept' ? target.turns : [];
    const last = turns.at(-1);
    return last === undefined ? null : this.#state(last.after);
  }
}

function differences(from: Files, to: Files): CheckpointFiles['changed'] {
  const paths = [...new Set([...from.keys(), ...to.keys()])].sort();
  return paths.flatMap((path): readonly FileDifference[] => {
    const [was, is] = [from.get(path), to.get(path)];
    if (was === is) return [];
    if (was === undefined) return [{ path, change: 'added' }];
    return [{ path, change: is === undefined ? 'deleted' : 'modified' }];
  });
}
