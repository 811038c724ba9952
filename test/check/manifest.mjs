// package.json against the code, both ways, and every translation against what it translates.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localisedTexts } from './localised-texts.mjs';

const LITERAL_ID = /(['"`])(pilothouse\.[A-Za-z][\w.-]*)\1/g;
const COMMAND_LINK = /command:(pilothouse\.[\w.-]+)/g;
const PLACEHOLDER = /^%(.+)%$/;
/** Commands with this prefix are for links and lenses that the code makes; the manifest does not list them. */
const INTERNAL = 'pilothouse.internal.';

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function sourcesBelow(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

/** Every string in a JSON value, at any depth. */
function* stringsIn(value) {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) yield* stringsIn(member);
  }
}

function settingsOf(contributes) {
  const sections = [contributes.configuration ?? []].flat();
  return sections.flatMap((section) => Object.keys(section.properties ?? {}));
}

/** What the manifest promises that code has to keep, by what it is. */
function promisesOf(contributes) {
  const ids = (list, key) => (list ?? []).map((item) => item[key]);
  return {
    command: ids(contributes.commands, 'command'),
    view: Object.values(contributes.views ?? {}).flatMap((views) => ids(views, 'id')),
    'chat participant': ids(contributes.chatParticipants, 'id'),
    'custom editor': ids(contributes.customEditors, 'viewType'),
    setting: settingsOf(contributes),
  };
}

function unkeptPromises(promises, code) {
  const isInCode = (text) => ["'", '"', '`'].some((quote) => code.includes(quote + text + quote));
  const problems = [];
  for (const [what, ids] of Object.entries(promises)) {
    for (const id of ids) {
      // A setting may be read by its name inside the section: getConfiguration('pilothouse').get('x').
      const withoutSection = what === 'setting' ? id.replace(/^pilothouse\./, '') : id;
      if (!isInCode(id) && !isInCode(withoutSection)) {
        problems.push(`package.json: the ${what} ${id} is nowhere in src/extension`);
      }
    }
  }
  return problems;
}

function unlistedIds(manifest, code) {
  const listed = [...stringsIn(manifest.contributes), ...settingsOf(manifest.contributes)].join(
    '\n',
  );
  const found = new Set(Array.from(code.matchAll(LITERAL_ID), (match) => match[2]));
  const isListed = (id) =>
    new RegExp(`(^|[^\\w.-])${RegExp.escape(id)}([^\\w.-]|$)`, 'm').test(listed);
  return [...found]
    .filter((id) => !id.startsWith(INTERNAL) && !isListed(id))
    .map((id) => `src/extension: '${id}' is not in package.json`);
}

/** Menus, keybindings and links may name only commands that are contributed. */
function unknownCommands(contributes) {
  const known = new Set((contributes.commands ?? []).map((item) => item.command));
  const menus = Object.values(contributes.menus ?? {}).flat();
  const used = [...menus, ...(contributes.keybindings ?? [])].map((item) => item.command);
  const links = [...stringsIn(contributes)].flatMap((text) =>
    Array.from(text.matchAll(COMMAND_LINK), (match) => match[1]),
  );
  const isUnknown = (id) => id?.startsWith('pilothouse.') && !known.has(id);
  return [...new Set([...used, ...links])]
    .filter(isUnknown)
    .map((id) => `package.json: ${id} is used but is not a contributed command`);
}

function differences(name, wanted, present) {
  const missing = wanted.filter((key) => !present.includes(key));
  const unused = present.filter((key) => !wanted.includes(key));
  return [
    ...missing.map((key) => `${name}: ${JSON.stringify(key)} is missing`),
    ...unused.map((key) => `${name}: ${JSON.stringify(key)} is used nowhere`),
  ];
}

function manifestTextProblems(root, manifest) {
  const placeholders = [...stringsIn(manifest)].map((text) => PLACEHOLDER.exec(text)?.[1]);
  const wanted = [...new Set(placeholders.filter((key) => key !== undefined))];
  const files = readdirSync(root).filter((name) => /^package\.nls(\..+)?\.json$/.test(name));
  if (wanted.length > 0 && !files.includes('package.nls.json')) {
    return ['package.nls.json does not exist'];
  }
  const texts = files.map((name) => readJson(join(root, name)));
  const linkProblems = texts.flatMap((text) =>
    unknownCommands({ commands: manifest.contributes.commands, texts: text }),
  );
  return [
    ...files.flatMap((name, at) => differences(name, wanted, Object.keys(texts[at]))),
    ...linkProblems,
  ];
}

function codeTextProblems(root, sources) {
  const { keys, problems } = localisedTexts(sources);
  const folder = join(root, 'l10n');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const bundles = names.filter((name) => /^bundle\.l10n\..+\.json$/.test(name));
  return [
    ...problems,
    ...bundles.flatMap((name) =>
      differences(`l10n/${name}`, keys, Object.keys(readJson(join(folder, name)))),
    ),
  ];
}

/** @returns {string[]} one sentence for each place where manifest, code and translations disagree. */
export function manifestProblems(root) {
  const manifest = readJson(join(root, 'package.json'));
  manifest.contributes ??= {};
  const extension = sourcesBelow(join(root, 'src/extension'));
  const code = extension.join('\n');
  return [
    ...unkeptPromises(promisesOf(manifest.contributes), code),
    ...unlistedIds(manifest, code),
    ...unknownCommands(manifest.contributes),
    ...manifestTextProblems(root, manifest),
    ...codeTextProblems(root, [...extension, ...sourcesBelow(join(root, 'media'))]),
  ];
}
