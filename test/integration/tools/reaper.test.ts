import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, isAlive, pidFrom, tempFolder } from '../../support/agent-core/agent-core.ts';

const LAUNCHER = new URL('../../../src/core/tools/run/reaper.ts', import.meta.url).href;

/** A process that starts two groups, tells its reaper of both and takes the first one out again. */
function owner(folder: string) {
  const program = `
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    import { createReaper } from '${LAUNCHER}';
    const reaper = createReaper('test-run');
    const start = (name) => spawn('/bin/sh', ['-c', 'sleep 300 & echo $! > ' + name + '; wait'], { detached: true, stdio: 'ignore', cwd: ${JSON.stringify(folder)} });
    spawn('/bin/sh', ['-c', 'echo $$ > stray.pid; exec sleep 300'], { detached: true, stdio: 'ignore', cwd: ${JSON.stringify(folder)}, env: { ...process.env, AGENT_CORE_OWNER: 'test-run.s' } });
    const spared = start('spared.pid'), watched = start('watched.pid');
    reaper.add(spared.pid);
    reaper.add(watched.pid);
    reaper.remove(spared.pid);
    writeFileSync(${JSON.stringify(join(folder, 'ready.pid'))}, String(process.pid));
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: 'ignore',
    detached: true,
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

describe('the reaper', () => {
  it('ends the groups of a killed process, but none that was taken out', async () => {
    const folder = tempFolder('reaper');
    const child = owner(folder);
    const spared = await pidFrom(join(folder, 'spared.pid'));
    const stray = await pidFrom(join(folder, 'stray.pid'));
    const watched = await pidFrom(join(folder, 'watched.pid'));
    await pidFrom(join(folder, 'ready.pid'));
    onTestFinished(() => {
      if (isAlive(spared)) process.kill(spared, 'SIGKILL');
    });
    expect([spared, watched].map(isAlive)).toEqual([true, true]);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await eventually(() => !isAlive(watched), 'the end of the watched group');
    await eventually(() => !isAlive(stray), 'the end of the one that left every group');
    expect(isAlive(spared)).toBe(true);
  });
});
