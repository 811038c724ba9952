// Restores a turn's files in a process of its own, and kills itself as soon as `first` is gone: in the middle.
import { existsSync } from 'node:fs';
import { createCheckpoints } from '../../../src/core/checkpoint/create-checkpoints.ts';
import { systemClock } from '../../../src/core/host/node-ports.ts';
import type { CheckpointFiles } from '../../../src/core/session/control-events.ts';
import type { SessionId } from '../../../src/core/session/words.ts';

const [root = '', folder = '', files = '', first = ''] = process.argv.slice(2);
const silent = (): void => undefined;
const checkpoints = createCheckpoints({
  sessionId: 'session-1' as SessionId,
  workspace: { cwd: root, roots: [root] },
  folder,
  environment: process.env,
  clock: systemClock,
  log: { debug: silent, info: silent, warn: silent, error: silent },
});
// Between any two steps of the restore.
const look = (): void => {
  if (existsSync(first)) setImmediate(look);
  else process.kill(process.pid, 'SIGKILL');
};
look();
await checkpoints.restore({ kind: 'turns', turns: [JSON.parse(files) as CheckpointFiles] }, []);
