import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  answering,
  eventually,
  hostStatus,
  startDoor,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { INSTANT } from '../../support/agent-core/control-client.ts';
import { gone, hostsOf, isThere, reachedBy } from '../../support/host-process/host-process.ts';
import { builtAs } from '../../support/host-process/other-version.ts';

let older: string;
let newer: string;
beforeEach(() => {
  older = builtAs('0.0.1');
  newer = builtAs('99.0.0');
});

describe('programs of several versions on one data folder', () => {
  it('keep an older host while it has clients or works, and replace it once it is idle', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const first = answering(startDoor(home, { program: older, env: INSTANT }), 'allow_once');
    const oldPid = await reachedBy(first);
    expect(hostStatus(home)).toMatchObject({ pid: oldPid, version: '0.0.1' });
    const sessionId = await first.newSession(folder);
    await first.call('session/set_mode', { sessionId, modeId: 'code' });
    first
      .prompt(sessionId, 'run touch begun; while [ ! -e go ]; do sleep 0.02; done')
      .catch(() => undefined);
    await isThere(join(folder, 'begun'));
    // It has a client and works.
    const second = startDoor(home, { program: newer });
    expect(await reachedBy(second)).toBe(oldPid);
    await second.close();
    await first.close();
    await eventually(() => hostStatus(home).clients === 0, 'the end of the clients');
    // It works.
    const third = startDoor(home, { program: newer });
    expect(await reachedBy(third)).toBe(oldPid);
    await third.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    writeFileSync(join(folder, 'go'), '');
    await eventually(() => third.textOf(sessionId).includes('Done'), 'the end of the turn');
    await third.close();
    await eventually(() => hostStatus(home).clients === 0, 'the end of the clients');

    const fourth = startDoor(home, { program: newer });
    const newPid = await reachedBy(fourth);
    expect(newPid).not.toBe(oldPid);
    await gone(oldPid);
    expect(hostStatus(home)).toMatchObject({ pid: newPid, version: '99.0.0' });
    const { sessions } = await fourth.call('session/list');
    expect(sessions).toMatchObject([{ sessionId }]);
    // An older program is served by the newer host.
    expect(await reachedBy(startDoor(home, { program: older }))).toBe(newPid);
  });

  it('end up at one host where all come at the same instant', async () => {
    const home = tempFolder('home');
    const clients = [older, newer, older, newer, older, newer].map((program) =>
      startDoor(home, { program }),
    );
    // A host that has a client makes room for nobody: whoever is let in stays.
    const pids = new Set(await Promise.all(clients.map(reachedBy)));
    await eventually(() => hostsOf(home).length === 1, 'the end of the other hosts');
    expect([...pids]).toEqual(hostsOf(home));
  });
});
