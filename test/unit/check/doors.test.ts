import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../../..');

const CONFIGURATION = [
  '.tsconfig.base.json',
  'tsconfig.json',
  '.oxlintrc.json',
  '.biome.json',
  '.gitignore',
  'test/check/lint-plugin.mjs',
  ...[
    'src/base',
    'src/protocol',
    'src/core/session',
    'src/core',
    'src/extension',
    'media',
    'test',
  ].map((room) => `${room}/tsconfig.json`),
];

/** What each room may do; no tool may object to any of it. */
const INNOCENT: Record<string, string> = {
  'src/base/sound.ts': "export const sound = 'sound';\nexport type Sound = typeof sound;\n",
  'src/protocol/word.ts':
    "import { sound } from '../base/sound.ts';\n\nexport const word = sound;\nexport type Word = typeof word;\n",
  'src/core/session/line.ts':
    "import { word } from '../../protocol/word.ts';\n\nexport const line = [word, new Date(0).toISOString()];\n",
  'src/core/session/apart.ts': 'export const apart = 1;\n',
  'src/core/page.ts':
    "import { pid } from 'node:process';\nimport { line } from './session/line.ts';\n\nexport const page = [line, pid, Date.now()];\n",
  'src/extension/cover.ts':
    "import { window } from 'vscode';\nimport { word } from '../protocol/word.ts';\n\nexport const cover = [window, word];\n",
  'media/print.tsx':
    "import type { Word } from '../src/protocol/word.ts';\n\nexport const print = (word: Word) => <b title={document.title}>{word}</b>;\n",
  'test/reader.ts':
    "import { print } from '../media/print.tsx';\nimport { page } from '../src/core/page.ts';\n\nexport const reader = [page, print];\n",
};

interface Plant {
  readonly fault: string;
  readonly file: string;
  readonly text: string;
  readonly refusedBy: 'tsc' | 'oxlint' | 'biome';
  readonly as: string;
}

function plant(
  fault: string,
  file: string,
  text: string,
  refusedBy: Plant['refusedBy'],
  as: string,
): Plant {
  return { fault, file, text, refusedBy, as };
}

const longBody = `export function long(): number {\n${'  void 0;\n'.repeat(60)}  return 1;\n}\n`;
const longFile = `${'// a line\n'.repeat(401)}export const end = 1;\n`;
const tangled = `export function tangled(n: number): number {\n${Array.from({ length: 16 }, (_, at) => `  if (n === ${at}) return ${at};\n`).join('')}  return n;\n}\n`;

const PLANTS: readonly Plant[] = [
  plant(
    'base imports protocol',
    'src/base/p1.ts',
    "export { word } from '../protocol/word.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'protocol imports core',
    'src/protocol/p2.ts',
    "export type { line } from '../core/session/line.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'the engine imports another room of core',
    'src/core/session/p3.ts',
    "export type { page } from '../page.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'the engine names process',
    'src/core/session/p4.ts',
    'export const pid = process.pid;\n',
    'tsc',
    'TS2591',
  ),
  plant(
    'core imports extension',
    'src/core/p5.ts',
    "export { cover } from '../extension/cover.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'extension imports core',
    'src/extension/p6.ts',
    "export { page } from '../core/page.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'extension imports the engine',
    'src/extension/p7.ts',
    "export { apart } from '../core/session/apart.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'extension touches the DOM',
    'src/extension/p8.ts',
    'export const title = document.title;\n',
    'tsc',
    'TS2584',
  ),
  plant(
    'core touches the DOM',
    'src/core/p9.ts',
    'export const title = document.title;\n',
    'tsc',
    'TS2584',
  ),
  plant(
    'source imports a test',
    'src/core/p10.ts',
    "export { reader } from '../../test/reader.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'the webview imports core',
    'media/p11.ts',
    "export type { page } from '../src/core/page.ts';\n",
    'tsc',
    'TS6307',
  ),
  plant(
    'the webview names process',
    'media/p12.ts',
    'export const pid = process.pid;\n',
    'tsc',
    'TS2591',
  ),
  plant(
    'core imports vscode',
    'src/core/p20.ts',
    "export type { Uri } from 'vscode';\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'the engine imports vscode',
    'src/core/session/p21.ts',
    "export type { Uri } from 'vscode';\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'the webview imports vscode',
    'media/p22.ts',
    "export type { Uri } from 'vscode';\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'protocol imports vscode',
    'src/protocol/p23.ts',
    "export type { Uri } from 'vscode';\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'the webview imports a value of protocol',
    'media/p24.ts',
    "export { word } from '../src/protocol/word.ts';\nimport { word } from '../src/protocol/word.ts';\nexport const w = word;\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'the webview imports base',
    'media/p25.ts',
    "import type { Sound } from '../src/base/sound.ts';\nexport type S = Sound;\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'the engine imports a Node module',
    'src/core/session/p26.ts',
    "import 'node:fs';\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'protocol imports a Node module by its bare name',
    'src/protocol/p27.ts',
    "import 'fs/promises';\n",
    'oxlint',
    'no-restricted-imports',
  ),
  plant(
    'the engine reads the clock',
    'src/core/session/p28.ts',
    'export const now = Date.now();\n',
    'oxlint',
    'no-restricted-properties',
  ),
  plant(
    'the engine makes a date of now',
    'src/core/session/p29.ts',
    'export const now = new Date();\n',
    'oxlint',
    'no-ambient-date',
  ),
  plant(
    'the engine throws dice',
    'src/core/session/p30.ts',
    'export const dice = Math.random();\n',
    'oxlint',
    'no-restricted-properties',
  ),
  plant(
    'the engine sets a timer',
    'src/core/session/p31.ts',
    'setTimeout(() => undefined, 1);\n',
    'oxlint',
    'no-restricted-globals',
  ),
  plant(
    'protocol reads the clock',
    'src/protocol/p32.ts',
    'export const now = performance.now();\n',
    'oxlint',
    'no-restricted-globals',
  ),
  plant(
    'core writes to stdout by console',
    'src/core/p33.ts',
    "console.log('x');\n",
    'oxlint',
    'no-console',
  ),
  plant(
    'a promise floats',
    'src/core/p34.ts',
    'async function f(): Promise<void> {\n  await Promise.resolve();\n}\nf();\n',
    'oxlint',
    'no-floating-promises',
  ),
  plant(
    'a switch forgets a case',
    'src/core/p35.ts',
    "export function f(k: 'a' | 'b'): void {\n  switch (k) {\n    case 'a':\n      return;\n  }\n}\n",
    'oxlint',
    'switch-exhaustiveness-check',
  ),
  plant('a function has 62 lines', 'src/core/p36.ts', longBody, 'oxlint', 'max-lines-per-function'),
  plant('a file has 402 lines', 'src/core/p37.ts', longFile, 'oxlint', 'max-lines'),
  plant('a function has 17 branches', 'src/core/p38.ts', tangled, 'oxlint', 'complexity'),
  plant(
    'two files import each other',
    'src/core/p39.ts',
    "import { b } from './p40.ts';\n\nexport const a = (): unknown => b;\n",
    'oxlint',
    'no-cycle',
  ),
  plant(
    'two files import each other, seen from the other',
    'src/core/p40.ts',
    "import { a } from './p39.ts';\n\nexport const b = (): unknown => a;\n",
    'oxlint',
    'no-cycle',
  ),
  plant(
    'any',
    'src/core/p41.ts',
    'export const f = (x: any): unknown => x;\n',
    'oxlint',
    'no-explicit-any',
  ),
  plant(
    'a value of unknown shape is used unparsed',
    'src/core/p42.ts',
    "export const f: string = JSON.parse('1');\n",
    'oxlint',
    'no-unsafe-assignment',
  ),
  plant('a default export', 'src/core/p50.ts', 'export default 1;\n', 'biome', 'noDefaultExport'),
  plant('an enum', 'src/core/p51.ts', 'export enum E {\n  A = 1,\n}\n', 'biome', 'noEnum'),
  plant(
    'a file name in camel case',
    'src/core/camelCase.ts',
    'export const a = 1;\n',
    'biome',
    'useFilenamingConvention',
  ),
  plant(
    'an empty block',
    'src/core/p52.ts',
    'try {\n  void 0;\n} catch {}\n',
    'biome',
    'noEmptyBlockStatements',
  ),
  plant('code that is not formatted', 'src/core/p53.ts', 'export const  a=1\n', 'biome', 'format'),
];

async function outputOf(tool: string, args: string[], cwd: string): Promise<string> {
  const command = join(repository, 'node_modules/.bin', tool);
  try {
    return (await run(command, args, { cwd, maxBuffer: 2 ** 26 })).stdout;
  } catch (failure) {
    const { stdout, stderr } = failure as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

/** The lines of a report that are about one file. */
function about(report: string, file: string): string {
  return report
    .split('\n')
    .filter((line) => line.includes(file))
    .join('\n');
}

/** A copy of the repository's configuration around these files only. */
async function treeOf(files: readonly (readonly [path: string, text: string])[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-doors-'));
  for (const file of CONFIGURATION) await cp(join(repository, file), join(folder, file));
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

async function reportsOn(folder: string): Promise<Record<Plant['refusedBy'], string>> {
  const [tsc, oxlint, biome] = await Promise.all([
    outputOf('tsc', ['-b', '--pretty', 'false'], folder),
    outputOf('oxlint', ['--type-aware', '--format', 'unix'], folder),
    outputOf('biome', ['ci', '--reporter=github', '--max-diagnostics=none'], folder),
  ]);
  return { tsc, oxlint, biome };
}

describe('the doors between rooms', () => {
  let planted: string;
  let innocent: string;
  let reports: Record<Plant['refusedBy'], string>;

  beforeAll(async () => {
    const plants = PLANTS.map(({ file, text }) => [file, text] as const);
    innocent = await treeOf(Object.entries(INNOCENT));
    planted = await treeOf([...Object.entries(INNOCENT), ...plants]);
    reports = await reportsOn(planted);
  }, 60_000);

  afterAll(async () => {
    await rm(planted, { recursive: true, force: true });
    await rm(innocent, { recursive: true, force: true });
  });

  it.each(PLANTS)('$refusedBy refuses it when $fault', ({ file, refusedBy, as }) => {
    expect(about(reports[refusedBy], file)).toContain(as);
  });

  it('no tool objects to what the rooms may do', async () => {
    const { tsc, oxlint, biome } = await reportsOn(innocent);
    expect({ tsc, oxlint, errors: about(biome, '::error') }).toEqual({
      tsc: '',
      oxlint: '',
      errors: '',
    });
  });
});
