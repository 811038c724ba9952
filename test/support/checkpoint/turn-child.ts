// A turn whose process dies: `at` says where. Prints the state's name of what it kept before that, if it did.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createCheckpoints } from '../../../src/core/checkpoint/create-checkpoints.ts';
import { systemClock } from '../../../src/core/host/node-ports.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';

const [root = '', folder = '', at = ''] = process.argv.slice(2);
const silent = (): void => undefined;
const checkpoints = createCheckpoints({
  sessionId: 'session-1' as SessionId,
  workspace: { cwd: root, roots: [root] },
  folder,
  environment: process.env,
  clock: systemClock,
  log: { debug: silent, info: silent, warn: silent, error: silent },
});
const turnId = 'turn-broken' as TurnId;
const { signal } = new AbortController();
const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const own = path.join(folder, 'session-1');
/** Between any two steps of what runs. */
const dieOnce = (isThere: () => boolean): void => {
  const look = (): void => {
    if (isThere()) die();
    else setImmediate(look);
  };
  look();
};
const effect = (call: string, ...paths: readonly string[]): Promise<unknown> =>
  checkpoints.beforeEffect({ turnId, toolCallId: call as ToolCallId, paths }, signal);
const shell = (command: string): unknown => execFileSync('/bin/sh', ['-c', command], { cwd: root });

if (at === 'keeping') {
  dieOnce(() => existsSync(path.join(own, 'git')));
  await checkpoints.keep();
}
if (at === 'before') dieOnce(() => existsSync(path.join(own, 'git')));
await effect('call-1', path.join(root, 'a'));
shell('printf turn > a');
await effect('call-2');
shell('rm -r gone; mkdir made; printf turn > made/new');
await effect('call-3', path.join(root, 'later'));
shell('printf turn > later');
if (at === 'capture') dieOnce(() => existsSync(path.join(own, 'states')));
else die();
await checkpoints.endTurn(turnId);
