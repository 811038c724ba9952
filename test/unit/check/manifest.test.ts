import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localisedTexts } from '../../check/localised-texts.mjs';
import { manifestProblems } from '../../check/manifest.mjs';

const SOUND_CODE = `
import { commands, l10n, workspace } from 'vscode';
commands.registerCommand('pilothouse.session.stop', () => l10n.t('Stopped {0}', 1));
commands.executeCommand('setContext', 'pilothouse.isRunning', true);
workspace.getConfiguration('pilothouse').get('model');
createView('pilothouse.sessions');
const link = 'pilothouse.internal.reveal';
`;

const SOUND_MANIFEST = {
  contributes: {
    commands: [{ command: 'pilothouse.session.stop', title: '%stop.title%' }],
    keybindings: [
      { command: 'pilothouse.session.stop', key: 'escape', when: 'pilothouse.isRunning' },
      { command: 'workbench.action.chat.open', key: 'f9' },
    ],
    menus: { 'view/title': [{ command: 'pilothouse.session.stop' }] },
    views: { side: [{ id: 'pilothouse.sessions', name: 'Sessions' }] },
    viewsWelcome: [
      { view: 'pilothouse.sessions', contents: '[Stop](command:pilothouse.session.stop)' },
    ],
    configuration: { properties: { 'pilothouse.model': { type: 'string' } } },
  },
};

const SOUND: Record<string, string> = {
  'package.json': JSON.stringify(SOUND_MANIFEST),
  'package.nls.json': '{"stop.title": "Stop"}',
  'package.nls.de.json': '{"stop.title": "Anhalten"}',
  'l10n/bundle.l10n.de.json': '{"Stopped {0}": "{0} angehalten"}',
  'src/extension/main.ts': SOUND_CODE,
};

describe('the manifest check', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pilothouse-manifest-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function problemsWith(changes: Record<string, string>): Promise<string[]> {
    for (const [file, text] of Object.entries({ ...SOUND, ...changes })) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    return manifestProblems(folder);
  }

  function manifestWith(contributes: object): Record<string, string> {
    const changed = { contributes: { ...SOUND_MANIFEST.contributes, ...contributes } };
    return { 'package.json': JSON.stringify(changed) };
  }

  function codeWith(line: string): Record<string, string> {
    return { 'src/extension/main.ts': `${SOUND_CODE}${line}\n` };
  }

  it('says nothing where manifest, code and translations agree', async () => {
    expect(await problemsWith({})).toEqual([]);
  });

  it('names a contributed command and a view that no code has', async () => {
    const code = SOUND_CODE.replaceAll('session.stop', 'internal.stop').replaceAll(
      '.sessions',
      '.internal.s',
    );
    expect(await problemsWith({ 'src/extension/main.ts': code })).toEqual([
      'package.json: the command pilothouse.session.stop is nowhere in src/extension',
      'package.json: the view pilothouse.sessions is nowhere in src/extension',
    ]);
  });

  it('names a setting that no code reads', async () => {
    const configuration = { properties: { 'pilothouse.model': {}, 'pilothouse.unread': {} } };
    expect(await problemsWith(manifestWith({ configuration }))).toEqual([
      'package.json: the setting pilothouse.unread is nowhere in src/extension',
    ]);
  });

  it('names an id in code that the manifest does not list, also where a longer one is listed', async () => {
    expect(await problemsWith(codeWith("run('pilothouse.session');"))).toEqual([
      "src/extension: 'pilothouse.session' is not in package.json",
    ]);
  });

  it('names a menu entry and a link whose command is not contributed', async () => {
    const menus = { 'view/title': [{ command: 'pilothouse.session.gone' }] };
    const viewsWelcome = [{ contents: '[x](command:pilothouse.session.away)' }];
    expect(await problemsWith(manifestWith({ menus, viewsWelcome }))).toEqual([
      'package.json: pilothouse.session.gone is used but is not a contributed command',
      'package.json: pilothouse.session.away is used but is not a contributed command',
    ]);
  });

  it('names manifest texts that a language lacks and those that nothing uses', async () => {
    expect(await problemsWith({ 'package.nls.de.json': '{"old.title": "Alt"}' })).toEqual([
      'package.nls.de.json: "stop.title" is missing',
      'package.nls.de.json: "old.title" is used nowhere',
    ]);
  });

  it('names code texts that a language lacks', async () => {
    expect(await problemsWith(codeWith("l10n.t('More');"))).toEqual([
      'l10n/bundle.l10n.de.json: "More" is missing',
    ]);
  });
});

describe('the texts that l10n.t translates', () => {
  it('are found in every way of writing a literal', () => {
    const source = [
      "l10n.t('it\\'s {0}', name)",
      'l10n.t("two\\nlines")',
      'vscode.l10n.t(`plain`)',
      "l10n.t(\n  'wrapped',\n)",
      "l10n.t({ message: 'M', args: [1], comment: ['C'] })",
      "l10n.t({ message: 'no comment' })",
    ].join('\n');
    expect(localisedTexts([source])).toEqual({
      keys: ["it's {0}", 'two\nlines', 'plain', 'wrapped', 'M/C', 'no comment'],
      problems: [],
    });
  });

  it.each(['l10n.t(name)', "l10n.t('a' + b)", `l10n.t(\`a $\{b}\`)`])(
    'are never made at run time: %s',
    (call) => {
      expect(localisedTexts([call])).toEqual({
        keys: [],
        problems: [`l10n.t needs one whole literal: ${call}`],
      });
    },
  );
});
