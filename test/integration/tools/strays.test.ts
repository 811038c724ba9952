import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killStrays, OWNER_VARIABLE } from '../../../src/core/tools/run/strays.ts';
import { isAlive, pidFrom } from '../../support/agent-core/agent-core.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'strays-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a script out of reach of any group, marked as `owner`'s. */
function start(owner: string, script: string): void {
  spawn('setsid', ['bash', '-c', script], {
    env: { ...process.env, [OWNER_VARIABLE]: owner },
    stdio: 'ignore',
    cwd: folder,
  }).unref();
}

describe.runIf(process.platform === 'linux')('processes that left their group', () => {
  it('are all gone, also where each starts the next before it ends', async () => {
    // Each link of the chain waits for the end of the one before, as a command does that starts itself again.
    const chain =
      'f() { (while kill -0 "$1" 2>/dev/null; do :; done; exec setsid bash -c "$SELF" x "$$") & }; echo $$ > pid; f $$; sleep 60';
    start('chained', `export SELF='${chain.replaceAll("'", `'"'"'`)}'; eval "$SELF"`);
    await pidFrom(join(folder, 'pid'));
    expect(await killStrays('chained')).toBeGreaterThan(0);
    expect(await killStrays('chained')).toBe(0);
  });

  it("another owner's go on", async () => {
    start('other', 'echo $$ > pid; exec sleep 60');
    const pid = await pidFrom(join(folder, 'pid'));
    await killStrays('mine');
    expect(isAlive(pid)).toBe(true);
    await killStrays('other');
    expect(isAlive(pid)).toBe(false);
  });
});
