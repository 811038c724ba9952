import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  answering,
  eventually,
  isAlive,
  pidFrom,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

test('a background process that dies with its program is reported lost once, its group is gone, and the model reads it', {
  timeout: 60_000,
}, async () => {
  const home = tempFolder('home');
  const folder = tempFolder('work');
  const open = async () => {
    const client = answering(startAgentCore(home), 'allow_once');
    await client.initialize(KNOWS_CONTROL);
    return client;
  };
  const first = await open();
  const sessionId = await first.newSession(folder);
  await first.prompt(sessionId, "start sh -c 'echo $$ > pid; sleep 1000 & echo $! > child; wait'");
  const pids = [await pidFrom(join(folder, 'pid')), await pidFrom(join(folder, 'child'))];
  expect(pids.every(isAlive)).toBe(true);
  first.kill();
  await eventually(() => !pids.some(isAlive), 'the end of the process group');
  for (let restarts = 0; restarts < 2; restarts += 1) {
    const client = await open();
    await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    client.kill();
    await client.exited;
  }
  const last = await open();
  await last.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
  await last.prompt(sessionId, 'say hello');
  await last.prompt(sessionId, 'say hello');
  const page = await last.call('_pilothouse/history/page', { sessionId, limit: 1_000 });
  const told = JSON.stringify(page).match(/\(sh -c [^)]*\) is lost/gu);
  expect(told).toHaveLength(1);
});
