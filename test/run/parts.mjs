// One part of a test run: a child process with a deadline, and how to read its counts.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const MINUTE_MS = 60_000;
const GRACE_MS = 5_000;

function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Runs a command in its own process group, output shown, and ends the whole group at the deadline. */
function runCommand(command, minutes) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      process.stdout.write(text);
    });
    const stop = () => signalGroup(child, 'SIGKILL');
    const endWithUs = () => {
      signalGroup(child, 'SIGTERM');
      setTimeout(() => process.exit(1), GRACE_MS).unref();
    };
    const deadline = setTimeout(() => {
      console.log(`not done after ${minutes} minutes, killed`);
      stop();
    }, minutes * MINUTE_MS);
    process.once('exit', stop).once('SIGINT', endWithUs).once('SIGTERM', endWithUs);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(deadline);
      stop();
      process.off('exit', stop).off('SIGINT', endWithUs).off('SIGTERM', endWithUs);
      resolve({ code, output });
    });
  });
}

/** The counts of a vitest project, from the report that it writes when it is done. */
export function vitestPart(project, { minutes = 15 } = {}) {
  const report = join(root, `.cache/vitest-${project}.json`);
  const command = [
    'node_modules/vitest/vitest.mjs',
    ...['run', '--config', 'test/vitest.config.ts', '--project', project],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  ];
  return {
    name: project,
    minutes,
    command,
    prepare: () => rmSync(report, { force: true }),
    counts() {
      if (!existsSync(report)) return { passed: 0, failed: 0 };
      const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
      return { passed: numPassedTests, failed: numFailedTests };
    },
  };
}

/** A program whose last line says `{"passed": n, "failed": n}`. */
export function jsonLinePart(name, command, { minutes = 15 } = {}) {
  return {
    name,
    minutes,
    command,
    counts(output) {
      const last = output.trimEnd().split('\n').at(-1);
      try {
        const { passed, failed } = JSON.parse(last);
        if (Number.isInteger(passed) && Number.isInteger(failed)) return { passed, failed };
      } catch {
        console.log(`${name}: the last line is not the counts`);
      }
      return { passed: 0, failed: 1 };
    },
  };
}

/** A step without tests of its own counts as one. */
export function stepPart(name, command, { minutes = 5 } = {}) {
  return {
    name,
    minutes,
    command,
    counts: (_output, code) => ({ passed: code === 0 ? 1 : 0, failed: 0 }),
  };
}

/**
 * Runs a part and counts. A part that ends badly without a failed test counts as one failure, and so does one
 * that ran nothing: silence is not success.
 */
export async function runPart(part) {
  const start = performance.now();
  console.log(`\n[${part.name}]`);
  part.prepare?.();
  const { code, output } = await runCommand(part.command, part.minutes);
  const { passed, failed } = part.counts(output, code);
  const wentWrong = code !== 0 || passed + failed === 0;
  const seconds = (performance.now() - start) / 1000;
  return { name: part.name, passed, failed: failed === 0 && wentWrong ? 1 : failed, seconds };
}
