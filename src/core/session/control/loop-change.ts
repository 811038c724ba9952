import { canonicalJson } from '../../../base/canonical-json.ts';
import { CodedError } from '../../../base/errors.ts';
import type {
  ChangeLoopInference,
  LiveCommand,
  PayloadOf,
  ReplaceLoopExternalTools,
} from '../commands/command.ts';
import type { LoopChange, LoopChanged } from '../commands/entry-points.ts';
import type { CommandOrigin, CommandStamp } from '../commands/stamp.ts';
import type { NewRecord } from '../ports.ts';
import type { Recorder } from '../state/recorder.ts';
import type { SessionConfig } from '../words.ts';

/** Says whether a change can be made; throws a `CodedError` whose message says what is allowed. */
export type ChangeCheck = (change: LoopChange) => Promise<void>;

/** What changes of a loop work with. */
export type LoopChangesParts = {
  readonly recorder: Recorder;
  readonly stamp: CommandStamp;
  /** What the next turn begins with, as far as it is recorded. */
  readonly config: () => SessionConfig;
  /** Undefined: everything that is well-formed is allowed. */
  readonly check: ChangeCheck | undefined;
  /** True once the session is being closed. */
  readonly isClosing: () => boolean;
};

/**
 * The live lane: changes of what a loop's next turn begins with, one after another. A change takes effect with its
 * record, all of it or nothing; a refusal is recorded too. The turn that runs keeps what it began with.
 */
export class LoopChanges {
  readonly #parts: LoopChangesParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: LoopChangesParts) {
    this.#parts = parts;
  }

  /** See `LoopEntries.changeLoop`. A change to what is chosen already leaves no record. */
  changeLoop(change: LoopChange, origin: CommandOrigin): Promise<LoopChanged> {
    return this.#inTurn(() => this.#change(change, origin));
  }

  /** The external tools of one source are others from the next turn on. */
  replaceTools(
    tools: PayloadOf<ReplaceLoopExternalTools>,
    origin: CommandOrigin,
  ): Promise<LoopChanged> {
    return this.#inTurn(async () => {
      if (this.#parts.isClosing()) return closed();
      const command = this.#parts.stamp.stamp('replace_loop_external_tools', tools, origin);
      return this.#commit([command], this.#parts.config(), origin);
    });
  }

  /** Each begins when the one before it is recorded, so that none is built on what is being replaced. */
  #inTurn(work: () => Promise<LoopChanged>): Promise<LoopChanged> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #change(change: LoopChange, origin: CommandOrigin): Promise<LoopChanged> {
    const { config, check, isClosing } = this.#parts;
    if (isClosing()) return closed();
    const wanted = changed(config(), change);
    if (canonicalJson(wanted) === canonicalJson(config()))
      return { kind: 'committed', values: valuesOf(wanted) };
    const commands = this.#commandsOf(change, origin);
    try {
      await check?.(change);
    } catch (failure) {
      const refusal: CodedError | null = failure instanceof CodedError ? failure : null;
      if (refusal === null) throw failure;
      return this.#refuse(commands, refusal);
    }
    return this.#commit(commands, wanted, origin);
  }

  /** Both where both are changed; none where only the time for answers or the keeping of files is: no command's. */
  #commandsOf(change: LoopChange, origin: CommandOrigin): readonly LiveCommand[] {
    const { stamp } = this.#parts;
    const inference = inferenceOf(change);
    const isInference = Object.keys(inference).length > 0;
    const { mode } = change;
    // One id is one command.
    const { commandId: _, ...other } = origin;
    const inferenceOrigin = mode === undefined ? origin : other;
    return [
      ...(mode === undefined ? [] : [stamp.stamp('set_loop_mode', { mode }, origin)]),
      ...(isInference ? [stamp.stamp('change_loop_inference', inference, inferenceOrigin)] : []),
    ];
  }

  async #commit(
    commands: readonly LiveCommand[],
    config: SessionConfig,
    { actor }: CommandOrigin,
  ): Promise<LoopChanged> {
    const values = valuesOf(config);
    const cause = { command_ids: commands.map(({ command_id: commandId }) => commandId) };
    const isOther = canonicalJson(config) !== canonicalJson(this.#parts.config());
    const records: NewRecord[] = isOther
      ? [{ stream: 'history', event: { type: 'config_changed', config, actor }, cause }]
      : [];
    await this.#parts.recorder.append([
      ...records,
      ...commands.map(
        (command): NewRecord => ({
          stream: 'control',
          event: { type: 'loop_changed', command, values },
        }),
      ),
    ]);
    return { kind: 'committed', values };
  }

  async #refuse(
    commands: readonly LiveCommand[],
    { code: reason, message }: CodedError<string>,
  ): Promise<LoopChanged> {
    if (commands.length === 0) return { kind: 'refused', reason, message };
    await this.#parts.recorder.append(
      commands.map((command) => ({
        stream: 'control',
        event: { type: 'loop_change_refused', command, reason, message },
      })),
    );
    return { kind: 'refused', reason, message };
  }
}

function closed(): LoopChanged {
  return {
    kind: 'refused',
    reason: 'session.closed',
    message: 'The session is closed. Load or resume it first.',
  };
}

/** What is missing stays; null takes a judge or a time limit away. */
function changed(config: SessionConfig, change: LoopChange): SessionConfig {
  const { judge: judgeBefore, gateSeconds: secondsBefore, ...rest } = config;
  const { mode, model, thoughtLevel, budget, checkpoints } = change;
  const judge = change.judge === undefined ? (judgeBefore ?? null) : change.judge;
  const gateSeconds =
    change.gateSeconds === undefined ? (secondsBefore ?? null) : change.gateSeconds;
  return {
    ...rest,
    mode: mode ?? config.mode,
    model: model ?? config.model,
    thoughtLevel: thoughtLevel ?? config.thoughtLevel,
    budget: budget ?? config.budget,
    ...(checkpoints === undefined ? {} : { checkpoints }),
    ...(judge === null ? {} : { judge }),
    ...(gateSeconds === null ? {} : { gateSeconds }),
  };
}

function inferenceOf({
  model,
  thoughtLevel,
  budget,
  judge,
}: LoopChange): PayloadOf<ChangeLoopInference> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(thoughtLevel === undefined ? {} : { thought_level: thoughtLevel }),
    ...(budget === undefined ? {} : { budget }),
    ...(judge === undefined ? {} : { judge }),
  };
}

function valuesOf({
  mode,
  model,
  thoughtLevel,
}: SessionConfig): Pick<SessionConfig, 'mode' | 'model' | 'thoughtLevel'> {
  return { mode, model, thoughtLevel };
}
