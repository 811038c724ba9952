import { describe, expect, it } from 'vitest';
import {
  ENDPOINTS,
  idFromUrl,
  providerEntry,
} from '../../../../src/extension/settings/endpoints.ts';
import { parseMcpServers } from '../../../../src/extension/settings/mcp-servers.ts';
import { probeEndpoint } from '../../../../src/extension/settings/probe-endpoint.ts';

describe('MCP servers of the settings', () => {
  it('become what ACP names them', () => {
    expect(
      parseMcpServers({
        files: { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
        web: { url: 'https://x.example/mcp', headers: { H: 'v' } },
        old: { url: 'https://x.example/sse', type: 'sse' },
        broken: { args: [] },
      }),
    ).toEqual([
      { name: 'files', command: 'npx', args: ['-y', 'x'], env: [{ name: 'A', value: 'b' }] },
      {
        type: 'http',
        name: 'web',
        url: 'https://x.example/mcp',
        headers: [{ name: 'H', value: 'v' }],
      },
      { type: 'sse', name: 'old', url: 'https://x.example/sse', headers: [] },
    ]);
    expect(parseMcpServers('x')).toEqual([]);
  });
});

describe('connecting a model', () => {
  it('adds to what a source has', () => {
    const source = { id: 'ollama', kind: 'openai-compatible', baseUrl: 'http://h/v1' };
    const first = providerEntry(undefined, source, 'a');
    const second = providerEntry({ ...first, headers: { X: 'y' } }, source, 'b');
    expect(second).toEqual({
      ...source,
      headers: { X: 'y' },
      models: [{ name: 'a' }, { name: 'b' }],
    });
    expect(providerEntry(second, source, 'b')['models']).toHaveLength(2);
  });

  it('makes an id that a model name can begin with', () => {
    expect(idFromUrl('http://My.Host:8080/v1')).toBe('my.host-8080');
    expect(idFromUrl('')).toBe('custom');
    for (const { id } of ENDPOINTS) expect(id).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
  });

  it.each([
    ['lists models', 200, { data: [{ id: 'm1' }] }, { kind: 'models', names: ['m1'] }],
    [
      'lists Google models',
      200,
      { models: [{ name: 'models/g' }] },
      { kind: 'models', names: ['g'] },
    ],
    ['refuses the key', 401, {}, { kind: 'key_refused' }],
    ['has no list', 404, {}, { kind: 'answered', status: 404 }],
  ])('tells when a service %s', async (_what, status, body, expected) => {
    const answer = async () => Response.json(body, { status });
    expect(await probeEndpoint('openai-compatible', 'http://h/v1/', 'k', answer)).toEqual(expected);
  });

  it('tells when a service can not be reached, and sends each its own kind of key', async () => {
    const headers: Record<string, string>[] = [];
    const fail = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      headers.push(Object.fromEntries(new Headers(init?.headers)));
      throw new TypeError('fetch failed', { cause: new Error('refused') });
    };
    const kinds = ['openai', 'anthropic', 'google'] as const;
    for (const kind of kinds)
      expect(await probeEndpoint(kind, 'http://h', 'k', fail)).toEqual({
        kind: 'unreachable',
        reason: 'refused',
      });
    expect(headers.map((one) => Object.keys(one)[0])).toEqual([
      'authorization',
      'anthropic-version',
      'x-goog-api-key',
    ]);
  });
});
