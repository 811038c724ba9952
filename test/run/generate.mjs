// Compiles the validators of ACP messages from the JSON Schema of the ACP SDK, so that no schema compiler runs at start-up.
// Writes only what changed; `setup` lets vitest call it too.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'src/core/acp/generated');
const acpSchemaFile = join(root, 'node_modules/@agentclientprotocol/sdk/schema/v1/schema.json');
const ownSchemaFile = join(root, 'src/protocol/pilothouse.schema.json');

/** Export name → what it validates: a definition of the ACP schema, or of our own extension's. */
const ACP = {
  initialize: 'InitializeRequest',
  authenticate: 'AuthenticateRequest',
  logout: 'LogoutRequest',
  sessionNew: 'NewSessionRequest',
  sessionLoad: 'LoadSessionRequest',
  sessionResume: 'ResumeSessionRequest',
  sessionList: 'ListSessionsRequest',
  sessionClose: 'CloseSessionRequest',
  sessionDelete: 'DeleteSessionRequest',
  sessionSetMode: 'SetSessionModeRequest',
  sessionSetConfigOption: 'SetSessionConfigOptionRequest',
  sessionPrompt: 'PromptRequest',
  sessionCancel: 'CancelNotification',
  permissionAnswer: 'RequestPermissionResponse',
  elicitationAnswer: 'CreateElicitationResponse',
  readTextFileAnswer: 'ReadTextFileResponse',
  writeTextFileAnswer: 'WriteTextFileResponse',
  sessionNotification: 'SessionNotification',
  contentBlock: 'ContentBlock',
};

/** Our own extension's definitions are exported by their names in the schema. */
const ownNames = Object.keys(JSON.parse(readFileSync(ownSchemaFile, 'utf8')).$defs);

/** Without a type, the keywords for objects say nothing about null or a list. */
function speaksOfMembers({ properties, required, discriminator }) {
  return (properties ?? required ?? discriminator) !== undefined;
}

/** What the schema marks as "use the default when it does not fit" must not make a message invalid. */
function lenient(node) {
  if (Array.isArray(node)) return node.map(lenient);
  if (typeof node !== 'object' || node === null) return node;
  if (node['x-deserialize-default-on-error'] === true) return true;
  const copy = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' || key === '$defs') copy[key] = mapValues(value, lenient);
    else if (key !== 'description' && !key.startsWith('x-')) copy[key] = lenient(value);
  }
  if (copy.anyOf) Object.assign(copy, byTag(copy));
  if (copy.type === undefined && speaksOfMembers(copy)) copy.type = 'object';
  return node['x-deserialize-default-on-null'] === true
    ? { anyOf: [{ type: 'null' }, copy] }
    : copy;
}

/** A keyword of JSON Schema; nothing here is a promise. */
// oxlint-disable-next-line unicorn/no-thenable
const CONSEQUENCE = 'then';

/**
 * Alternatives that are told apart by a constant are tried by that constant, so that an error speaks of the
 * alternative that was meant.
 */
function byTag({ anyOf }) {
  const tagOf = ({ properties = {}, required = [] }) =>
    Object.keys(properties).find((key) => 'const' in properties[key] && required.includes(key));
  const tagged = anyOf.filter((branch) => tagOf(branch) !== undefined);
  if (tagged.length === 0) return {};
  const others = anyOf.filter((branch) => tagOf(branch) === undefined);
  const choice = tagged.reduceRight(
    (rest, branch) => {
      const tag = tagOf(branch);
      const hasTag = { required: [tag], properties: { [tag]: branch.properties[tag] } };
      return { if: hasTag, [CONSEQUENCE]: branch, else: rest };
    },
    others.length === 0 ? false : { anyOf: others },
  );
  return { anyOf: [choice] };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

async function compile(acpSchema, ownSchema) {
  const [{ default: Ajv2020 }, { default: standaloneCode }] = await Promise.all([
    import('ajv/dist/2020.js').then((module) => module.default),
    import('ajv/dist/standalone/index.js').then((module) => module.default),
  ]);
  const ajv = new Ajv2020({
    strict: false,
    discriminator: true,
    validateFormats: false,
    code: { source: true, esm: true },
  });
  ajv.addSchema({ $defs: lenient(acpSchema).$defs }, 'acp');
  ajv.addSchema(ownSchema, 'own');
  const exported = {};
  for (const [name, definition] of Object.entries(ACP)) {
    ajv.addSchema({ $ref: `acp#/$defs/${definition}` }, name);
    exported[name] = name;
  }
  for (const name of ownNames) {
    ajv.addSchema({ $ref: `own#/$defs/${name}` }, name);
    exported[name] = name;
  }
  return asModule(standaloneCode(ajv, exported));
}

/** The generator asks for its helpers by require(), which a module does not have: they are written out instead. */
function asModule(code) {
  const helpers = new Map();
  const body = code.replace(/require\("(ajv\/dist\/runtime\/\w+)"\)/g, (_, path) => {
    if (!helpers.has(path)) helpers.set(path, `helper${helpers.size}`);
    return helpers.get(path);
  });
  const require = createRequire(import.meta.url);
  const written = [...helpers].map(
    ([path, name]) => `const ${name} = { default: ${require(path).default} };\n`,
  );
  return written.join('') + body;
}

function declarations() {
  const names = [...Object.keys(ACP), ...ownNames];
  const lines = names.map((name) => `export declare const ${name}: SchemaCheck;`);
  return [
    'export type SchemaError = {',
    '  readonly instancePath: string;',
    '  readonly keyword: string;',
    '  readonly params: { readonly [key: string]: unknown };',
    '  readonly message?: string;',
    '};',
    'export type SchemaCheck = {',
    '  (value: unknown): boolean;',
    '  errors?: SchemaError[] | null;',
    '};',
    ...lines,
    '',
  ].join('\n');
}

/** A half-written file must never be read by a build that runs at the same time. */
function replaceFile(file, text) {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}

/** Writes the generated files unless they are what this script and its schemas would write. */
export async function generate() {
  const acpText = readFileSync(acpSchemaFile, 'utf8');
  const ownText = readFileSync(ownSchemaFile, 'utf8');
  const self = readFileSync(fileURLToPath(import.meta.url), 'utf8');
  const { version } = createRequire(import.meta.url)('ajv/package.json');
  const digest = createHash('sha256').update(acpText).update(ownText).update(self).update(version);
  const stamp = `// ${digest.digest('hex')}\n`;
  const code = join(folder, 'schema-checks.mjs');
  const types = join(folder, 'schema-checks.d.mts');
  const isCurrent = (file) => existsSync(file) && readFileSync(file, 'utf8').startsWith(stamp);
  if (isCurrent(code) && isCurrent(types)) return;
  mkdirSync(folder, { recursive: true });
  replaceFile(types, stamp + declarations());
  replaceFile(code, stamp + (await compile(JSON.parse(acpText), JSON.parse(ownText))));
}

/** What vitest calls before it runs any test. */
export async function setup() {
  await generate();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate();
