import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SetUpError } from './run.ts';

const alwaysTrue = /function ([\w$]+)\(([\w$]+),([\w$]+)\)\{return!0\}/g;

/** How often `name(…, "someProposal")` is called: only the proposal check is called like that. */
function callsWithProposal(text: string, name: string): number {
  const escaped = name.replaceAll('$', '\\$');
  return text.match(new RegExp(`[^\\w$.]${escaped}\\([\\w$.]+,"[a-zA-Z]+"\\)`, 'g'))?.length ?? 0;
}

/**
 * Gives a bundle its `isProposedApiEnabled` back: code-server's build answers `true` to every
 * extension, and a suite that is green there proves nothing about a stable VS Code.
 * Throws if there is not exactly one such function.
 */
export function restoreProposalCheck(text: string): string {
  const found = [...text.matchAll(alwaysTrue)].filter(
    ([, name = '']) => callsWithProposal(text, name) >= 3,
  );
  const [match] = found;
  if (!match || found.length !== 1) {
    throw new SetUpError(
      `The proposed-API check was found ${found.length} times, not once: this VS Code build is not the one the harness knows.`,
    );
  }
  const [whole, name, extension, proposal] = match;
  return text.replace(
    whole,
    () =>
      `function ${name}(${extension},${proposal}){return!!${extension}.enabledApiProposals&&${extension}.enabledApiProposals.includes(${proposal})}`,
  );
}

/** Makes the workbench drop proposals that a non-built-in extension asks for, as stable does. */
export function restoreProposalFilter(text: string): string {
  const open = '_envEnablesProposedApiForAll=!0';
  const count = text.split(open).length - 1;
  if (count !== 1) {
    throw new SetUpError(`"${open}" was found ${count} times, not once, in the workbench bundle.`);
  }
  return text.replace(open, '_envEnablesProposedApiForAll=!1');
}

const bundles: readonly { path: string; edits: readonly ((text: string) => string)[] }[] = [
  { path: 'out/vs/workbench/api/node/extensionHostProcess.js', edits: [restoreProposalCheck] },
  {
    path: 'out/vs/code/browser/workbench/workbench.js',
    edits: [restoreProposalCheck, restoreProposalFilter],
  },
];

/** Restores the gate in a server's folder. Files are replaced, so hard links keep their content. */
export async function restoreProposalGate(root: string): Promise<void> {
  for (const { path, edits } of bundles) {
    const file = join(root, path);
    const before = await readFile(file, 'utf8');
    const after = edits.reduce((text, edit) => edit(text), before);
    await writeFile(`${file}.new`, after);
    await rename(`${file}.new`, file);
    if ((await readFile(file, 'utf8')) === before) {
      throw new SetUpError(`The proposed-API gate of ${path} could not be restored.`);
    }
  }
}
