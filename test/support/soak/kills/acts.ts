import type { CrashRig } from '../rig/crash-rig.ts';
import type { Act } from './plan.ts';

/** Acts that take as long as a turn. */
export const TURNS: ReadonlySet<Act['name']> = new Set([
  'tools',
  'processes',
  'talk',
  'ask',
  'front delegate',
  'background delegate',
]);

/** What a turn does; null for what is no turn. */
export function script(rig: CrashRig, name: Act['name']): readonly string[] | null {
  switch (name) {
    case 'tools':
      return [
        `run ${rig.mark()}; sleep 0.05`,
        `write ${rig.name()}.txt: text`,
        `together: run ${rig.mark()} ; run ${rig.mark()}; sleep 0.05`,
        `run sleep 0.1; ${rig.mark()}`,
        'finish with done',
      ];
    case 'processes':
      return [
        `start echo $$ >> pids; ${rig.mark()}; exec sleep 300`,
        `start ${rig.mark()}`,
        `run ${rig.mark()}; sleep 0.1`,
        'finish with started',
      ];
    case 'talk':
      return ['think a little', `say ${'words '.repeat(40)}`, 'count slowly from 1 to 3'];
    case 'ask':
      return ['ask Is it so?', `run ${rig.mark()}`];
    case 'front delegate':
      return [`delegate: run ${rig.mark()}; sleep 0.1`, `run ${rig.mark()}`];
    case 'background delegate':
      return [`delegate in background: run ${rig.mark()}; sleep 0.2`, `run ${rig.mark()}`];
    default:
      return null;
  }
}

/** The call that an act is, where it is no more than that. */
export function controlOf(rig: CrashRig, name: Act['name'], luck: number): [string, object] {
  switch (name) {
    case 'remind':
      return ['session/remind', { body: 'mind it', mode: 'finish_step' }];
    case 'hold':
      return ['_pilothouse/queue/add', { content: `run ${rig.mark()}` }];
    case 'resume':
      return ['_pilothouse/queue/resume', {}];
    case 'pause':
      return ['_pilothouse/queue/pause', {}];
    case 'compact':
      return ['_pilothouse/compact', {}];
    case 'redo':
      return ['session/redo', { overwrite: 'all' }];
    case 'mode':
      return ['session/set_mode', { modeId: luck < 0.4 ? 'ask' : 'code' }];
    case 'keep files':
      return ['_pilothouse/checkpoints/create', {}];
    default:
      return ['session/cancel', {}];
  }
}
