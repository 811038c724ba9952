import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AdmissionRules,
  admit,
  refusalText,
} from '../../../../../../src/core/door/ws/entry/admission.ts';
import { Bearers, takeTokens } from '../../../../../../src/core/door/ws/entry/tokens.ts';

const rules: AdmissionRules = {
  bearers: new Bearers({ owner: 'own', observer: 'see' }),
  isLoopback: true,
  origins: new Set(['https://good.example']),
};
const good = { host: '127.0.0.1:80', authorization: 'Bearer own', upgrade: 'websocket' };

function statusOf(headers: object, over: Partial<AdmissionRules> = {}, url = '/acp'): unknown {
  const admission = admit({ url, headers: { ...good, ...headers } }, { ...rules, ...over });
  return admission.isIn ? admission.role : admission.status;
}

describe('who gets in', () => {
  it('is who shows a token, as what the token is for', () => {
    expect(statusOf({})).toBe('host_owner');
    expect(statusOf({ authorization: 'bearer   see' })).toBe('observer');
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'own',
      'Bearer ow',
      'Basic own',
    ])
      expect(statusOf({ authorization })).toBe(401);
  });

  it('is nobody with an empty token where no observer token was given', () => {
    const bearers = new Bearers({ owner: 'own', observer: null });
    expect(statusOf({ authorization: 'Bearer ' }, { bearers })).toBe(401);
    expect(statusOf({ authorization: 'Bearer see' }, { bearers })).toBe(401);
  });

  it('is no page but of a named origin', () => {
    expect(statusOf({ origin: 'https://good.example' })).toBe('host_owner');
    expect(statusOf({ origin: 'https://GOOD.example' })).toBe('host_owner');
    for (const origin of ['null', '', 'https://good.example.evil', 'http://good.example'])
      expect(statusOf({ origin })).toBe(403);
  });

  it('is nobody who calls this machine by a name of somebody else', () => {
    for (const host of ['localhost', 'LocalHost:9', '127.0.0.9', '[::1]:80'])
      expect(statusOf({ host })).toBe('host_owner');
    for (const host of [
      undefined,
      '',
      'evil.example',
      'localhost.evil',
      '127.0.0.1.evil',
      '10.0.0.1',
    ])
      expect(statusOf({ host })).toBe(403);
    expect(statusOf({ host: 'server.example' }, { isLoopback: false })).toBe('host_owner');
  });

  it('is nobody on another path or without an upgrade', () => {
    expect(statusOf({}, {}, '/acp?x=1')).toBe('host_owner');
    expect(statusOf({}, {}, '/acp/')).toBe(404);
    expect(statusOf({ upgrade: undefined })).toBe(426);
  });

  it('is answered whole', () => {
    const [head = '', body] = refusalText(401, 'No.').split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual([
      'HTTP/1.1 401 Unauthorized',
      'connection: close',
      'content-type: text/plain; charset=utf-8',
      'www-authenticate: Bearer',
      'content-length: 4',
    ]);
    expect(body).toBe('No.\n');
  });
});

describe('tokens', () => {
  it('are taken out of the environment; a file comes first', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilothouse-token-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'token');
    const environment: NodeJS.ProcessEnv = {
      PILOTHOUSE_WS_TOKEN: ' a ',
      PILOTHOUSE_WS_OBSERVER_TOKEN: 'b',
      OTHER: 'c',
    };
    expect(takeTokens(environment, null)).toEqual({ owner: 'a', observer: 'b' });
    expect(environment).toEqual({ OTHER: 'c' });
    writeFileSync(file, 'from-file\n');
    expect(takeTokens({ PILOTHOUSE_WS_TOKEN: 'a' }, file).owner).toBe('from-file');
    writeFileSync(file, ' \n');
    for (const bad of [file, join(folder, 'none')])
      expect(() => takeTokens({}, bad)).toThrow(expect.objectContaining({ code: 'ws.bad_file' }));
    expect(takeTokens({ PILOTHOUSE_WS_TOKEN: ' ' }, null).owner).toBeNull();
  });
});
