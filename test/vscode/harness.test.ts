import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './driver/until.ts';
import { launcher } from './in-host/run.ts';
import { restoreProposalCheck } from './install/proposal-gate.ts';
import { ensureSample } from './sample.ts';
import { withEnvironment } from './serve/processes.ts';
import { useVsCode } from './use-vscode.ts';

const probe = join(import.meta.dirname, 'probe');
let scratch = '';

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'pilothouse-harness-'));
  await ensureSample(join(scratch, 'teapot'));
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('the driver', () => {
  const vscode = useVsCode(() => ({
    folder: join(scratch, 'teapot'),
    extensionDevelopmentPaths: [probe],
    locale: 'de',
  }));

  it('clicks an inline action of a tree row', async () => {
    await vscode().openContainer('Probe');
    await vscode().tree('Things').action('beta', 'Poke');
    await vscode().tree('Things').waitFor('beta, poked');
    expect((await vscode().tree('Things').rows()).map((row) => row.label)).toEqual([
      'alpha',
      'beta, poked',
    ]);
  });

  it('answers a toast by its button', async () => {
    await vscode().runCommand('Probe: Fragen');
    await vscode().notifications.click('May I?', 'Deny');
    await vscode().statusBar.waitFor('Probe Deny');
    await vscode().notifications.waitUntilGone('May I?');
  });

  it('answers a quick pick and an input box, and clicks the status bar', async () => {
    await vscode().runCommand('Probe: Pick');
    await vscode().quickInput.pick('two');
    await vscode().quickInput.type('tea');
    await vscode().quickInput.accept();
    await vscode().statusBar.click('Probe two tea');
    await vscode().statusBar.waitFor('Probe pressed in de');
  });

  it('clicks inside a webview, also after a reload, and sees the old child gone', async () => {
    await vscode().runCommand('Probe Side: Focus on Page View');
    const before = vscode().extensionHostChildren();
    expect(before.map(({ command }) => command)).toEqual([expect.stringContaining('probe-child')]);
    const press = async () => {
      const page = await vscode().webview({ extensionId: 'harness.probe', containing: 'button' });
      await page.getByRole('button', { name: 'Press' }).click();
      await page.getByRole('status').filter({ hasText: 'pressed!' }).waitFor();
    };
    await press();
    await vscode().reload();
    await press();
    const pids = new Set(before.map(({ pid }) => pid));
    await until('the child of the old window to end', () =>
      vscode()
        .extensionHostChildren()
        .every(({ pid }) => !pids.has(pid)),
    );
  });
});

describe('the launcher', () => {
  const marker = 'PILOTHOUSE_HARNESS_TEST';

  async function launch(name: string, suite: string) {
    const file = join(scratch, `${name}.cjs`);
    await writeFile(file, suite);
    const args = [
      join(scratch, 'teapot'),
      `--extensionDevelopmentPath=${probe}`,
      `--extensionTestsPath=${file}`,
      '--disable-workspace-trust',
    ];
    const env = { ...process.env, [marker]: scratch };
    const child = spawn(launcher, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const code = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, code, output: () => output };
  }

  const left = () => withEnvironment(marker, scratch);
  const gone = () => until('all of its processes to end', () => left().length === 0, { saw: left });

  it('exits 0 with a green suite, whose console it shows; a proposed API throws', async () => {
    const run = await launch(
      'green',
      `const vscode = require('vscode');
      exports.run = async () => {
        const { trusted } = await vscode.extensions.getExtension('harness.probe').activate();
        console.log('trusted', trusted, vscode.workspace.workspaceFolders[0].name);
        const pick = vscode.window.createQuickPick();
        try { pick.items = [{ label: 'a', tooltip: 'b' }]; } catch (error) { console.log('gate holds'); }
      };`,
    );
    expect(await run.code).toBe(0);
    expect(run.output()).toContain('trusted true teapot');
    expect(run.output()).toContain('gate holds');
    await gone();
  });

  it('exits with another code when a test fails', async () => {
    const run = await launch(
      'red',
      `exports.run = async () => { throw new Error('on purpose'); };`,
    );
    expect(await run.code).toBe(1);
    await gone();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('leaves nothing behind after %s', async (signal) => {
    const run = await launch(
      'endless',
      `exports.run = () => { console.log('running'); return new Promise(() => {}); };`,
    );
    await until('the suite to run', () => run.output().includes('running'), {
      milliseconds: 60_000,
    });
    expect(left().length).toBeGreaterThan(2);
    run.child.kill(signal);
    await run.code;
    await gone();
  });
});

describe('the proposed-API gate', () => {
  const checks = 'a(e,"one"),a(e,"two"),a(e,"three")';

  it('is restored in a bundle that answers true to everyone', () => {
    const text = `function a(i,t){return!0}function b(i,t){return!0}${checks}`;
    expect(restoreProposalCheck(text)).toBe(
      `function a(i,t){return!!i.enabledApiProposals&&i.enabledApiProposals.includes(t)}function b(i,t){return!0}${checks}`,
    );
  });

  it('refuses a bundle in which it cannot be found', () => {
    expect(() => restoreProposalCheck(checks)).toThrow(/found 0 times/);
  });
});
