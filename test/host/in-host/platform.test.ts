import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { z } from 'zod';
import { inHostTest } from '../../vscode/in-host/suite.ts';

const manifest = z.object({
  contributes: z.object({ commands: z.array(z.object({ command: z.string() })) }),
});

function pilothouse(): vscode.Extension<unknown> {
  const extension = vscode.extensions.getExtension('pilothouse.pilothouse');
  assert.ok(extension, 'the extension is installed');
  return extension;
}

inHostTest('a proposed API throws here as it does on a stable VS Code', () => {
  const pick = vscode.window.createQuickPick();
  const item = { label: 'one', tooltip: 'two' };
  assert.throws(() => {
    pick.items = [item];
  }, /proposed|proposal/i);
  pick.dispose();
});

inHostTest('every command of the manifest is registered once the extension is active', async () => {
  await pilothouse().activate();
  const registered = new Set(await vscode.commands.getCommands(true));
  const { commands } = manifest.parse(pilothouse().packageJSON).contributes;
  assert.ok(commands.length > 0);
  const missing = commands.filter(({ command }) => !registered.has(command));
  assert.deepEqual(missing, []);
});
