import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { providerFetch } from '../../../../../src/core/models/sdk/provider-fetch.ts';

let server: Server;
let base: string;
let isClosed: Promise<void>;

beforeEach(async () => {
  let closed = (): void => undefined;
  isClosed = new Promise((resolve) => {
    closed = resolve;
  });
  server = createServer((request, response) => {
    response.on('close', closed);
    if (request.url === '/moved') response.writeHead(302, { location: '/short' }).end();
    else if (request.url === '/short') response.writeHead(201, { 'x-kept': 'yes' }).end('12345678');
    else {
      const more = (): void => {
        while (response.write('x'.repeat(1000)));
      };
      response.on('drain', more);
      more();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

describe('the fetch that talks to a provider', () => {
  test('passes on an answer up to the limit as it is', async () => {
    const response = await providerFetch('acme', 8)(`${base}/short`);
    expect([response.status, response.headers.get('x-kept')]).toEqual([201, 'yes']);
    expect(await response.text()).toBe('12345678');
  });

  test('ends an answer that does not end, and its connection', async () => {
    const response = await providerFetch('acme', 100_000)(`${base}/endless`);
    await expect(response.text()).rejects.toMatchObject({ code: 'model.failed' });
    await isClosed;
  });

  test('follows no redirect', async () => {
    await expect(providerFetch('acme')(`${base}/moved`)).rejects.toThrow();
  });
});
