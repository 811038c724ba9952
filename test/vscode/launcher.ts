/**
 * Runs an extension test suite as desktop VS Code would for `@vscode/test-electron`, with the same
 * arguments, in the cached VS Code server and Chromium. Exits with the suite's code.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureVsCode } from './install/vscode.ts';
import { launchBrowser } from './serve/browser.ts';
import { type Server, startServer } from './serve/server.ts';
import { windowUrl } from './serve/url.ts';

const { values, positionals } = parseArgs({
  strict: false, // Desktop VS Code takes many more flags; those that mean nothing here are ignored.
  allowPositionals: true,
  options: {
    extensionDevelopmentPath: { type: 'string', multiple: true },
    extensionTestsPath: { type: 'string' },
    'user-data-dir': { type: 'string' },
    'extensions-dir': { type: 'string' },
    'disable-workspace-trust': { type: 'boolean' },
    'folder-uri': { type: 'string' },
    timeout: { type: 'string' },
  },
});

function text(name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function paths(name: string): string[] {
  const value = values[name];
  return (Array.isArray(value) ? value : [value])
    .filter((one) => typeof one === 'string')
    .map((one) => resolve(one));
}

function workspace(): { folder?: string; workspace?: string } {
  const uri = text('folder-uri');
  const path = uri ? decodeURI(new URL(uri).pathname) : positionals[0];
  if (path === undefined) return {};
  return path.endsWith('.code-workspace')
    ? { workspace: resolve(path) }
    : { folder: resolve(path) };
}

async function folder(name: string, fallback: string): Promise<string> {
  const path = resolve(text(name) ?? fallback);
  await mkdir(path, { recursive: true });
  return path;
}

/** VS Code's own chatter, which comes through the same channel as the suite's console. */
const chatter =
  /^\[(AgentHost|RemoteAgentHost|ChatModelSelection|reconnection-grace|AccountPolicyGate|Service Worker)|^(Creating a socket|Resolv(ing|ed) connection token|Updating additional builtin|Ignoring fetching additional)|authentication provider 'github'|gallery service|Creation of workbench contribution|An unknown error occurred/;

function print(type: string, args: readonly unknown[]): void {
  const line = args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ');
  if (chatter.test(line)) return;
  const stream = type === 'error' || type === 'warn' ? process.stderr : process.stdout;
  stream.write(`${line}\n`);
}

/** Opens the window and resolves with the suite's exit code. */
async function runSuite(server: Server, tests: string): Promise<number> {
  const patience = Number(text('timeout') ?? 600_000);
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const finished = Promise.withResolvers<number>();
    let over = false;
    const give = (why: string) => {
      if (over) return;
      process.stderr.write(`${why}\n${server.log().slice(-4000)}\n`);
      finished.resolve(1);
    };
    const timer = setTimeout(() => give(`The suite did not end within ${patience} ms.`), patience);
    page.on('crash', () => give('The window crashed.'));
    browser.on('disconnected', () => give('Chromium ended before the suite did.'));
    void server.ended.then(() => give('The VS Code server ended before the suite did.'));
    await page.exposeFunction('codeAutomationLog', print);
    await page.exposeFunction('codeAutomationExit', (code: number) => finished.resolve(code));
    await page.goto(
      windowUrl(server.url, {
        ...workspace(),
        extensionDevelopmentPaths: paths('extensionDevelopmentPath'),
        extensionTestsPath: tests,
      }),
    );
    const code = await finished.promise;
    over = true;
    clearTimeout(timer);
    return code;
  } finally {
    await browser.close();
  }
}

async function main(): Promise<number> {
  const tests = paths('extensionTestsPath')[0];
  if (tests === undefined) {
    process.stderr.write('launcher: --extensionTestsPath=FILE is missing.\n');
    return 2;
  }
  const vsCode = await ensureVsCode();
  const scratch = await mkdtemp(join(tmpdir(), 'pilothouse-vscode-'));
  try {
    const server = await startServer({
      vsCode,
      userDataDir: await folder('user-data-dir', join(scratch, 'user')),
      extensionsDir: await folder('extensions-dir', join(scratch, 'extensions')),
      serverDataDir: await folder('', join(scratch, 'server')),
      trust: values['disable-workspace-trust'] === true,
      development: true,
      env: { EXTENSIONS_GALLERY: '{}' },
    });
    try {
      return await runSuite(server, tests);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const starter = process.ppid;
setInterval(() => {
  if (process.ppid !== starter) process.exit(1); // Whoever ran us is gone, and what we own goes too.
}, 1000).unref();
process.exit(await main());
