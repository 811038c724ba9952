// Makes a copy of the extension whose texts are in the pseudo-language qps-ploc, to see what is not translated and
// what does not fit: `node test/support/l10n/pseudo.mjs` prints its folder. Needs a build.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getL10nJson, getL10nPseudoLocalized } from '@vscode/l10n-dev';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const LANGUAGE = 'qps-ploc';

async function sourcesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name));
  return Promise.all(
    files.map(async (entry) => ({
      extension: entry.name.endsWith('x') ? '.tsx' : '.ts',
      contents: await readFile(join(entry.parentPath, entry.name), 'utf8'),
    })),
  );
}

const write = (path, value) => writeFile(path, `${JSON.stringify(value, undefined, 2)}\n`);

/** Every text of the code, by itself. */
export async function codeTexts() {
  return getL10nJson(await sourcesBelow(join(root, 'src/extension')));
}

/** Writes the copy and returns its folder. */
export async function writePseudoExtension() {
  const folder = join(root, 'test/output/pseudo');
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'l10n'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  // Copies, not links: VS Code knows by the real path of a file which extension it belongs to.
  for (const name of ['dist', 'media'])
    await cp(join(root, name), join(folder, name), { recursive: true });
  const manifest = JSON.parse(await readFile(join(root, 'package.nls.json'), 'utf8'));
  await write(join(folder, 'package.nls.json'), manifest);
  await write(join(folder, `package.nls.${LANGUAGE}.json`), getL10nPseudoLocalized(manifest));
  const bundle = getL10nPseudoLocalized(await codeTexts());
  await write(join(folder, 'l10n', `bundle.l10n.${LANGUAGE}.json`), bundle);
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await writePseudoExtension());
