/**
 * Screenshots of the extension in a real VS Code.
 *
 *     node test/vscode/shoot.ts --script FILE [--out DIR] [--theme dark|light|highContrast|highContrastLight]
 *         [--size 1440x900] [--scale 2] [--folder DIR] [--extension DIR]... [--locale de] [--untrusted]
 *
 * FILE exports `shoot(vscode, save)`: `vscode` is the driver's window, `save('name')` writes
 * `DIR/name-THEME.png`. Without a script it opens the Pilothouse container and saves `window`.
 * Several `--theme` give one run each. Default folder for pictures: test/output/shots.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { themes } from './driver/prepare.ts';
import { openVsCode, type VsCodeWindow } from './driver.ts';
import { checkout } from './install/paths.ts';
import { ensureSample } from './sample.ts';

/** What a script exports as `shoot`. */
export type Shoot = (
  vscode: VsCodeWindow,
  save: (name: string) => Promise<string>,
) => Promise<void>;

type Theme = keyof typeof themes;

const { values } = parseArgs({
  options: {
    script: { type: 'string' },
    out: { type: 'string', default: join(checkout, 'test/output/shots') },
    theme: { type: 'string', multiple: true, default: ['dark'] },
    size: { type: 'string', default: '1440x900' },
    scale: { type: 'string', default: '1' },
    folder: { type: 'string' },
    extension: { type: 'string', multiple: true, default: [checkout] },
    locale: { type: 'string' },
    untrusted: { type: 'boolean', default: false },
  },
});

function isTheme(name: string): name is Theme {
  return name in themes;
}

const openContainer: Shoot = async (vscode, save) => {
  await vscode.openContainer('Pilothouse');
  await vscode.settled();
  await save('window');
};

async function loadScript(): Promise<Shoot> {
  if (!values.script) return openContainer;
  const module: unknown = await import(pathToFileURL(resolve(values.script)).href);
  if (typeof module === 'object' && module !== null && 'shoot' in module) {
    const { shoot } = module;
    // A script is the caller's own code; its shape is checked by its author's compiler.
    if (typeof shoot === 'function') return shoot as Shoot;
  }
  throw new Error(`${values.script} does not export a function named shoot.`);
}

async function shootIn(theme: Theme, shoot: Shoot, sample: string): Promise<void> {
  const [width = 1440, height = 900] = values.size.split('x').map(Number);
  const vscode = await openVsCode({
    folder: resolve(values.folder ?? sample),
    extensionDevelopmentPaths: values.extension.map((path) => resolve(path)),
    trust: !values.untrusted,
    theme,
    size: { width, height },
    scale: Number(values.scale),
    ...(values.locale && { locale: values.locale }),
  });
  const save = async (name: string) => {
    const path = await vscode.screenshot(join(resolve(values.out), `${name}-${theme}`));
    process.stdout.write(`${path}\n`);
    return path;
  };
  try {
    await shoot(vscode, save);
  } catch (error) {
    await save('failed');
    throw error;
  } finally {
    await vscode.dispose();
  }
}

const wanted = values.theme.filter(isTheme);
if (wanted.length !== values.theme.length) {
  throw new Error(`--theme is one of ${Object.keys(themes).join(', ')}.`);
}
const scratch = await mkdtemp(join(tmpdir(), 'pilothouse-shoot-'));
try {
  const shoot = await loadScript();
  await ensureSample(join(scratch, 'teapot'));
  for (const theme of wanted) await shootIn(theme, shoot, join(scratch, 'teapot'));
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
}
