import { kill, pid } from 'node:process';
import { CodedError } from '../../../base/errors.ts';

/** The plan names a point that there is not. */
export class CrashPlanError extends CodedError<'host.unknown_crash_point'> {}

/** Where this process is to die, as it might at any moment; for proving what a restart makes of it. */
export class CrashPlan {
  /** How often each point is still to be passed. */
  readonly #left: Map<string, number>;
  readonly #die: () => void;

  /**
   * `text` is `<point>[#n][,<point>…]`: the n-th passing of the point is the last, the first if `n` is missing. Throws
   * `CrashPlanError` with the list of `names` for any other point.
   */
  constructor(text: string, names: readonly string[], die = dieAtOnce) {
    this.#left = new Map(text.split(',').map((part) => parsePoint(part.trim(), names)));
    this.#die = die;
  }

  /** Says that the process is at this point; does not return if it is where it dies. */
  pass(point: string): void {
    const left = this.#left.get(point);
    if (left === undefined) return;
    this.#left.set(point, left - 1);
    if (left === 1) this.#die();
  }
}

function parsePoint(part: string, names: readonly string[]): [string, number] {
  const [, name = '', count = '1'] = /^([^#]+)(?:#([1-9]\d{0,8}))?$/.exec(part) ?? [];
  if (!names.includes(name)) {
    throw new CrashPlanError(
      'host.unknown_crash_point',
      `CRASH_AT names "${part}", which is no crash point. Write <point> or <point>#n with one of:\n${names.join('\n')}`,
    );
  }
  return [name, Number(count)];
}

/** No handler runs, nothing is flushed. */
function dieAtOnce(): void {
  kill(pid, 'SIGKILL');
}
