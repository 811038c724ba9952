// `npm start`: opens VS Code on a sample folder with the extension loaded, from a fresh clone.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

const usage = `npm start -- [options]

Installs what is missing, builds, and opens VS Code in the browser with Pilothouse loaded.

  --folder DIR   open this folder instead of a sample project
  --port N       listen on this port (default: 8421, or a free one)
  --host NAME    listen on this address (default: 127.0.0.1); anyone who reaches it can run
                 commands as you, and browsers show webviews over https or from localhost only
  --desktop      use the VS Code installed here (\`code\`, or VSCODE_EXECUTABLE) instead
  --no-browser   only print the address
  --help         show this
`;

function fail(message) {
  console.error(message);
  process.exit(2);
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        folder: { type: 'string' },
        port: { type: 'string' },
        host: { type: 'string', default: '127.0.0.1' },
        desktop: { type: 'boolean', default: false },
        'no-browser': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return fail(`${error.message}\n\n${usage}`);
  }
}

/** The folder to open, absolute; undefined means the sample. */
function chosenFolder(name) {
  if (name === undefined) return undefined;
  // npm runs scripts in the package's folder; a relative name is meant from where the person is.
  const folder = resolve(process.env.INIT_CWD ?? process.cwd(), name);
  if (!existsSync(folder)) fail(`--folder: ${folder} does not exist.`);
  if (!statSync(folder).isDirectory()) fail(`--folder: ${folder} is not a folder.`);
  return folder;
}

function chosenPort(text) {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65535) {
    fail(`--port: "${text}" is not a port (1 to 65535).`);
  }
  return port;
}

function desktopProgram() {
  const named = process.env.VSCODE_EXECUTABLE;
  if (named) return existsSync(named) ? named : fail(`VSCODE_EXECUTABLE: ${named} does not exist.`);
  const name = process.platform === 'win32' ? 'code.cmd' : 'code';
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  return (
    found ??
    fail(
      'There is no `code` on PATH. In VS Code run "Shell Command: Install \'code\' command in PATH", or name its program in VSCODE_EXECUTABLE, or leave --desktop away.',
    )
  );
}

async function openOnDesktop(program, folder) {
  const { desktopSample } = await import('../vscode/open.ts');
  const args = [`--extensionDevelopmentPath=${root}`, folder ?? (await desktopSample())];
  console.log(`Opening ${args[1]} in ${program}`);
  const shell = process.platform === 'win32';
  const child = spawn(shell ? `"${program}"` : program, args, { stdio: 'inherit', shell });
  return new Promise((done) => {
    child.once('error', (error) => fail(`${program}: ${error.message}`));
    child.once('exit', (code) => done(code ?? 1));
  });
}

const flags = readFlags();
if (flags.help) {
  console.log(usage);
  process.exit(0);
}
const folder = chosenFolder(flags.folder);
const port = chosenPort(flags.port);
const program = flags.desktop ? desktopProgram() : undefined;
try {
  await ensureInstalled();
  await ensureBuilt();
  if (program !== undefined) process.exit(await openOnDesktop(program, folder));
  const { openInBrowser } = await import('../vscode/open.ts');
  const options = { folder, port, host: flags.host, browser: !flags['no-browser'] };
  process.exit(await openInBrowser(options));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
