import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findHost, type HostSearch } from '../../../../src/core/door/find-host.ts';
import { type HostStart, startHost } from '../../../../src/core/door/start-host.ts';
import { systemClock } from '../../../../src/core/host/node-ports.ts';
import { writeEndpoint } from '../../../../src/core/link/endpoint-file.ts';
import { ownMark } from '../../../../src/core/link/process-facts.ts';
import { recordingLog } from '../../../support/journal/open.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-find-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A search in an empty folder whose tries to start a host come to this, one after another. */
function search(...starts: readonly HostStart[]): { search: HostSearch; tries: () => number } {
  let tries = 0;
  return {
    tries: () => tries,
    search: {
      dataFolder: folder,
      version: '1.0.0',
      client: { model: null, keys: { owner: null, observer: null }, environment: {} },
      start: () => {
        const start = starts[tries];
        tries += 1;
        return start === undefined
          ? Promise.reject(new Error('There was one try too many'))
          : Promise.resolve(start);
      },
      clock: systemClock,
      log: recordingLog(),
      signal: new AbortController().signal,
    },
  };
}

describe('a door without a host', () => {
  it('tries once more when a host dies of its start, and not again', async () => {
    const found = search({ kind: 'died' }, { kind: 'died' });
    await expect(findHost(found.search)).rejects.toMatchObject({ code: 'host.not_started' });
    expect(found.tries()).toBe(2);
  });

  it('says what kept a host from starting, at once', async () => {
    const found = search({ kind: 'failed', code: 'journal.too_new', message: 'It is too new.' });
    await expect(findHost(found.search)).rejects.toMatchObject({
      code: 'journal.too_new',
      message: 'It is too new.',
    });
    expect(found.tries()).toBe(1);
  });

  it('minds no endpoint of another kind that nobody listens at', async () => {
    writeEndpoint(folder, {
      ...ownMark(),
      // What a system says that has no such marks.
      startTicks: null,
      bootId: null,
      link: 7,
      version: '9.0.0',
      endpoint: join(folder, 'nobody.sock'),
      token: 'token',
      isClosing: false,
    });
    const found = search({ kind: 'failed', code: 'journal.fault', message: 'The disk is full.' });
    await expect(findHost(found.search)).rejects.toMatchObject({ code: 'journal.fault' });
  });

  it('does not take the place of a host of another kind', async () => {
    const endpoint = join(folder, 'other.sock');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(endpoint, resolve));
    const other = { link: 7, version: '9.0.0', endpoint, token: 'token', isClosing: false };
    writeEndpoint(folder, { ...ownMark(), ...other });
    const found = search();
    await expect(findHost(found.search)).rejects.toMatchObject({ code: 'host.incompatible' });
    expect(found.tries()).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });

  it('waits for one that holds the folder and is not yet there', async () => {
    const last = { kind: 'failed', code: 'journal.fault', message: 'The disk is full.' } as const;
    const found = search({ kind: 'exists' }, { kind: 'exists' }, last);
    await expect(findHost(found.search)).rejects.toMatchObject({ code: 'journal.fault' });
    expect(found.tries()).toBe(3);
  });
});

describe('the start of a host', () => {
  const options = (...args: readonly string[]) => ({
    dataFolder: folder,
    command: '/bin/sh',
    args: ['-c', ...args],
    environment: process.env,
    deadlineMs: 5_000,
  });

  it('is what it says, a death where it says nothing, and a kill where that takes too long', async () => {
    expect(await startHost(options('echo \'{"kind":"ready"}\' >&3; sleep 0.1'))).toEqual({
      kind: 'ready',
    });
    expect(await startHost(options('exit 1'))).toEqual({ kind: 'died' });
    expect(await startHost({ ...options('exec sleep 60'), deadlineMs: 50 })).toMatchObject({
      kind: 'failed',
      code: 'host.not_started',
    });
  });

  it('needs no home folder, and says so where there is no program', async () => {
    const home = process.env['HOME'];
    process.env['HOME'] = join(folder, 'nowhere');
    try {
      expect(await startHost(options('echo \'{"kind":"exists"}\' >&3'))).toEqual({
        kind: 'exists',
      });
    } finally {
      if (home === undefined) delete process.env['HOME'];
      else process.env['HOME'] = home;
    }
    expect(await startHost({ ...options(), command: join(folder, 'no-program') })).toMatchObject({
      kind: 'failed',
      code: 'host.not_started',
    });
  });
});
