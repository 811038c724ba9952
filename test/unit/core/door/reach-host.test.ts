import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reachHost } from '../../../../src/core/door/reach-host.ts';
import { type Listener, listen, sendWelcome } from '../../../../src/core/host/process/listener.ts';
import type { HostHello } from '../../../../src/protocol/host-link.ts';
import { recordingLog } from '../../../support/journal/open.ts';

const WELCOME = {
  ok: true,
  link: 1,
  pid: 1,
  version: '1.0.0',
  startedAt: 0,
  sessions: 0,
  clients: 0,
} as const;

let folder: string;
let listener: Listener;
let heard: HostHello[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-reach-'));
  heard = [];
  listener = await listen({
    dataFolder: folder,
    token: 'secret',
    log: recordingLog(),
    onHello: (hello, socket) => {
      heard.push(hello);
      sendWelcome(socket, WELCOME);
      socket.end();
    },
  });
});

afterEach(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

function knock(environment: { readonly [name: string]: string }) {
  const client = { model: null, keys: { owner: null, observer: null }, environment };
  return reachHost(listener, { asks: 'connect', version: '1.0.0', client });
}

describe('a door that knocks with a long environment', () => {
  it('hands over one as long as a system allows, in any letters', async () => {
    const environment = { LONG: 'ü\n'.repeat(600_000) };
    const reached = await knock(environment);
    expect(reached).toMatchObject({ kind: 'welcome', welcome: WELCOME });
    if (reached.kind === 'welcome') reached.socket.destroy();
    expect(heard[0]?.client?.environment).toEqual(environment);
  });

  it('says of one that no host reads that it is too long, and knocks at none', async () => {
    expect(await knock({ LONG: '\u0001'.repeat(800_000) })).toMatchObject({
      kind: 'refused',
      code: 'host.environment_too_long',
    });
    expect(heard).toEqual([]);
  });
});
