import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, isAlive, pidFrom, tempFolder } from '../../support/agent-core/agent-core.ts';

const source = (name: string) =>
  new URL(`../../../src/core/tools/run/${name}`, import.meta.url).href;
const REAPER = source('reaper.ts');
const CHILD_GROUP = source('child-group.ts');

/** Runs a program that is killed after the test. */
function run(program: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: 'ignore',
    detached: true,
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** A process that starts a held group for a command, and lets it go or not; its reaper knows nothing of it. */
function holder(folder: string, isReleased: boolean) {
  const command = 'echo $$ > waits.pid; read -r _ <&3 || exit; echo $$ > begun.pid; exec sleep 300';
  return run(`
    import { ChildGroup } from '${CHILD_GROUP}';
    const options = { cwd: ${JSON.stringify(folder)}, environment: process.env, onOutput: () => undefined, held: true };
    const group = new ChildGroup(['/bin/sh', '-c', ${JSON.stringify(command)}], options);
    if (${isReleased}) group.release();
    setInterval(() => undefined, 1000);
  `);
}

/** A process that starts two groups, tells its reaper of both and takes the first one out again. */
function owner(folder: string) {
  const program = `
    import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
    import { writeFileSync } from 'node:fs';
    import { createReaper } from '${REAPER}';
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
  return run(program);
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

describe('a held child', () => {
  it('does not begin when its starter is killed before the reaper knew of it', async () => {
    const folder = tempFolder('held');
    const starter = holder(folder, false);
    const waiting = await pidFrom(join(folder, 'waits.pid'));
    starter.kill('SIGKILL');
    await eventually(() => !isAlive(waiting), 'the end of what waited');
    expect(existsSync(join(folder, 'begun.pid'))).toBe(false);
  });

  it("begins when it is released, and is then its starter's to end", async () => {
    const folder = tempFolder('held');
    const starter = holder(folder, true);
    const begun = await pidFrom(join(folder, 'begun.pid'));
    onTestFinished(() => {
      if (isAlive(begun)) process.kill(begun, 'SIGKILL');
    });
    starter.kill('SIGKILL');
    await new Promise((resolve) => starter.once('close', resolve));
    expect(isAlive(begun)).toBe(true);
  });
});
