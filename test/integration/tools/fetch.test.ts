import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchOptions } from '../../../src/core/tools/web/http-get.ts';
import { ToolBench, textOf } from '../../support/tools/tool-bench.ts';

let server: Server;
let base: string;
let asked: string[];
const pages = new Map<string, RequestListener>();
const benches: ToolBench[] = [];

beforeEach(async () => {
  asked = [];
  pages.clear();
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const page = pages.get(request.url ?? '');
    if (page !== undefined) return page(request, response);
    response.statusCode = 404;
    response.end('nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await Promise.all(benches.splice(0).map((bench) => bench.dispose()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function bench(fetch: FetchOptions = { allowPrivate: true }): Promise<ToolBench> {
  const made = await ToolBench.create({ fetch });
  benches.push(made);
  return made;
}
async function fetched(url: string, options?: FetchOptions) {
  return await (await bench(options)).call('fetch', {
    url: url.startsWith('/') ? base + url : url,
  });
}
function page(
  path: string,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  pages.set(path, (_request, response) => {
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(body);
  });
}
function redirect(path: string, location: string): void {
  pages.set(path, (_request, response) => {
    response.writeHead(302, { location });
    response.end();
  });
}

describe('fetch', () => {
  it('gives the readable text of a page', async () => {
    page(
      '/',
      'text/html; charset=utf-8',
      '<html><head><title>T</title><style>x{}</style><script>alert(1)</script></head><body><h1>Größe</h1><p>One <b>two</b> <a href="https://x.test/">link</a></p><ul><li>item</li></ul></body></html>',
    );
    const outcome = await fetched('/');
    const text = textOf(outcome);
    expect(text).toContain('Größe');
    expect(text).toContain('One two link [https://x.test/]');
    expect(text).toContain('* item');
    expect(text).not.toMatch(/alert|x\{\}/);
    expect(outcome.rawOutput).toMatchObject({ status: 200, url: `${base}/` });
  });

  it('gives text as it is, by its charset and unpacked', async () => {
    page('/latin', 'text/plain; charset=iso-8859-1', Buffer.from('grün', 'latin1'));
    page('/json', 'application/json', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' });
    page(
      '/meta',
      'text/html',
      Buffer.from('<meta charset="windows-1252"><p>10 \u0080</p>', 'latin1'),
    );
    expect(textOf(await fetched('/latin'))).toBe('grün');
    expect(textOf(await fetched('/json'))).toBe('{"a":1}');
    expect(textOf(await fetched('/meta'))).toBe('10 €');
  });

  it('refuses what is no text, tells errors, and shows images', async () => {
    page('/bin', 'application/octet-stream', Buffer.from([0, 1, 2]));
    page('/png', 'image/png', Buffer.from('89504e470d0a1a0a0000', 'hex'));
    expect(textOf(await fetched('/bin'))).toMatch(/not text/);
    expect((await fetched('/png')).parts[0]).toMatchObject({
      type: 'image',
      mimeType: 'image/png',
    });
    const missing = await fetched('/missing');
    expect(missing.status).toBe('failed');
    expect(textOf(missing)).toBe('HTTP status 404.\nnothing here');
  });

  it('stops at its size, also of what unpacks to more', async () => {
    page('/long', 'text/plain', 'x'.repeat(500_000));
    page('/bomb', 'text/plain', gzipSync(Buffer.alloc(50_000_000, 'x')), {
      'content-encoding': 'gzip',
    });
    for (const path of ['/long', '/bomb']) {
      const outcome = await fetched(path, { allowPrivate: true, maxBytes: 10_000 });
      expect(outcome.rawOutput).toMatchObject({ bytes: 10_000 });
      expect(textOf(outcome)).toMatch(/^x{10000}\n\n\[The page is longer/);
    }
  });

  it('gives up at its time limit, and at once when it is stopped', async () => {
    pages.set('/hang', () => undefined);
    pages.set('/drip', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('x');
    });
    for (const path of ['/hang', '/drip'])
      expect(textOf(await fetched(path, { allowPrivate: true, timeoutMs: 150 }))).toMatch(
        /in time/,
      );
    const stop = new AbortController();
    const made = await bench();
    const call = made.call('fetch', { url: `${base}/hang` }, stop.signal);
    stop.abort();
    expect(textOf(await call)).toMatch(/Stopped/);
  });

  it('follows redirects on the same host, and names one that leads elsewhere', async () => {
    redirect('/a', '/b');
    redirect('/b', './c');
    page('/c', 'text/plain', 'arrived');
    redirect('/away', 'https://elsewhere.test/x');
    redirect('/port', 'http://127.0.0.1:1/x');
    redirect('/file', 'file:///etc/passwd');
    redirect('/loop', '/loop');
    expect(textOf(await fetched('/a'))).toBe('arrived');
    expect(textOf(await fetched('/away'))).toMatch(/redirects to https:\/\/elsewhere\.test\/x/);
    expect(textOf(await fetched('/port'))).toMatch(/redirects to http:\/\/127\.0\.0\.1:1\/x/);
    expect(textOf(await fetched('/file'))).toMatch(/not an http or https URL/);
    expect(textOf(await fetched('/loop'))).toMatch(/more than 5 times/);
  });

  it('refuses private addresses, written or resolved, and never connects to them', async () => {
    page('/', 'text/plain', 'internal');
    const port = new URL(base).port;
    expect(textOf(await fetched('/', {}))).toMatch(/not a public address/);
    expect(textOf(await fetched(`http://localhost:${port}/`, {}))).toMatch(/not a public address/);
    const resolve: FetchOptions['resolve'] = (_host, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    expect(textOf(await fetched(`http://rebind.test:${port}/`, { resolve }))).toMatch(
      /127\.0\.0\.1/,
    );
    expect(asked).toEqual([]);
    // The twin: with the guard off the same name is served.
    const call = await fetched(`http://localhost:${port}/`, { allowPrivate: true });
    expect(textOf(call)).toBe('internal');
    expect(asked).toEqual(['/']);
  });

  it('tells a host that is not there', async () => {
    const resolve: FetchOptions['resolve'] = (host, callback) =>
      callback(
        Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }),
        [],
      );
    expect(textOf(await fetched('http://nowhere.test/', { resolve }))).toMatch(
      /could not be fetched: .*ENOTFOUND/,
    );
  });
});
