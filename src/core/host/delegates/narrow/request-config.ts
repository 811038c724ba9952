import type { Mode, SessionConfig } from '../../../session/words.ts';
import { delegatesClosed } from '../delegate-error.ts';
import type { LoopNode } from '../loops/loop-node.ts';
import { narrowedConfig } from './narrowing.ts';

/** What a delegate of `parent` works under if it is given something now. Throws `DelegateError`. */
export function configBelow(parent: LoopNode, wish: Mode | undefined, now: number): SessionConfig {
  const turn = parent.turns.newest;
  const isRunning = turn !== null && turn.terminal === null;
  const config = isRunning ? turn.config : parent.live?.session.config;
  if (config === undefined) throw delegatesClosed();
  return narrowedConfig(config, parent.turns.spent(now), wish);
}
