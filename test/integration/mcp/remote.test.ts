import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpServer } from '../../../src/protocol/acp.ts';
import { legacySse, modernHttp, streamableHttp } from '../../support/mcp-server/http.ts';
import { McpRig, namesOf, textOf, until, untilTool } from '../../support/mcp-server/rig.ts';
import { createToolbox } from '../../support/mcp-server/toolbox.ts';
import { type WebHandler, WebServer } from '../../support/mcp-server/web-server.ts';

const HTTP = { type: 'http', path: '/mcp', handler: () => streamableHttp() } as const;
const SSE = { type: 'sse', path: '/sse', handler: () => legacySse() } as const;

let rig: McpRig;
let web: WebServer | null = null;
const seen: Headers[] = [];

beforeEach(async () => {
  rig = await McpRig.open();
  seen.length = 0;
});
afterEach(async () => {
  await rig.close();
  await web?.close();
  web = null;
});

async function serve(handler: WebHandler, port = 0): Promise<WebServer> {
  web = await WebServer.open(async (request) => {
    seen.push(request.headers);
    return await handler(request);
  }, port);
  return web;
}

function remote(
  kind: { type: 'http' | 'sse'; path: string },
  origin: string,
  headers: Record<string, string> = {},
): McpServer {
  return {
    type: kind.type,
    name: 'far',
    url: origin + kind.path,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
  };
}

describe.each([HTTP, SSE])('a server over $type', (kind) => {
  it('offers its tools and answers, with the headers configured for it', async () => {
    const { origin } = await serve(kind.handler());
    const tools = rig.session([remote(kind, origin, { 'X-Team': 'blue' })]);
    await untilTool(tools, 'mcp__far__echo');
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.every((headers) => headers.get('x-team') === 'blue')).toBe(true);
  });

  it('may change its list and ask the person', async () => {
    const { origin } = await serve(kind.handler());
    const tools = rig.session([remote(kind, origin)]);
    await untilTool(tools, 'mcp__far__toggle');
    rig.answer = { name: 'Ann' };
    expect(textOf(await rig.call(tools, 'mcp__far__ask_name'))).toBe('hello Ann');
    await rig.call(tools, 'mcp__far__toggle');
    await untilTool(tools, 'mcp__far__extra');
  });

  it('is told to stop a call, and goes on serving', async () => {
    const { origin } = await serve(kind.handler());
    const tools = rig.session([remote(kind, origin)]);
    await untilTool(tools, 'mcp__far__slow');
    const stop = new AbortController();
    const slow = rig.call(tools, 'mcp__far__slow', { ms: 300, path: rig.path('out') }, stop.signal);
    stop.abort();
    expect((await slow).status).toBe('failed');
    await tools.stopCalls();
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'on' }))).toBe('echo: on');
  });

  it('is found again after it was away, at the same address', async () => {
    const first = await serve(kind.handler());
    const { port, origin } = first;
    const tools = rig.session([remote(kind, origin)]);
    await untilTool(tools, 'mcp__far__echo');
    await first.close();
    await until(tools, () => tools.tools().length === 0);
    expect(rig.notices[0]).toMatchObject({ severity: 'warning', title: 'MCP server far was lost' });
    await serve(kind.handler(), port);
    await untilTool(tools, 'mcp__far__echo');
    expect(rig.notices.at(-1)).toMatchObject({ severity: 'info', title: 'MCP server far is back' });
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
  });

  it('that refuses the configured key is left out and says why', async () => {
    const { origin } = await serve(async () => new Response('no', { status: 401 }));
    const tools = rig.session([remote(kind, origin, { Authorization: 'Bearer wrong-key' })]);
    await until(tools, () => rig.notices.length > 0);
    expect(rig.notices[0]?.description).toContain('refused access (HTTP 401)');
    expect(JSON.stringify([rig.notices, rig.logged])).not.toContain('wrong-key');
  });

  it('that nobody serves is reported once', async () => {
    const { origin } = await serve(kind.handler());
    await web?.close();
    const tools = rig.session([remote(kind, origin)]);
    await until(tools, () => rig.notices.length > 0);
    await tools.prepare(rig.turn());
    expect(rig.notices).toHaveLength(1);
    expect(rig.notices[0]).toMatchObject({ title: 'MCP server far is not available' });
    expect(rig.notices[0]?.description).toContain('ECONNREFUSED');
  });
});

describe('a server over http', () => {
  it('that forgot the session is connected again', async () => {
    let handler = streamableHttp();
    const { origin } = await serve((request) => handler(request));
    const tools = rig.session([remote(HTTP, origin)]);
    await untilTool(tools, 'mcp__far__echo');
    handler = streamableHttp();
    const lost = await rig.call(tools, 'mcp__far__echo', { text: 'hi' });
    expect(lost.status).toBe('failed');
    await until(tools, () => rig.notices.length > 0);
    await untilTool(tools, 'mcp__far__echo');
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
  });

  it('that speaks only the newest revision is understood', async () => {
    const { origin } = await serve(modernHttp());
    const tools = rig.session([remote(HTTP, origin)]);
    await untilTool(tools, 'mcp__far__echo');
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
    expect(rig.notices).toEqual([]);
    await web?.close();
    const lost = await rig.call(tools, 'mcp__far__echo', { text: 'hi' });
    expect(lost.status).toBe('failed');
    await until(tools, () => tools.tools().length === 0);
    expect(rig.notices[0]?.title).toBe('MCP server far was lost');
  });

  it('lists tools over several pages', async () => {
    const paged = (): ReturnType<typeof createToolbox> => {
      const server = createToolbox();
      server.server.setRequestHandler('tools/list', ({ params }) => {
        const page = Number(params?.cursor ?? 0);
        const tool = { name: `page_${page}`, inputSchema: { type: 'object' as const } };
        return { tools: [tool], ...(page < 4 ? { nextCursor: String(page + 1) } : {}) };
      });
      return server;
    };
    const { origin } = await serve(streamableHttp(paged));
    const tools = rig.session([remote(HTTP, origin)]);
    await until(tools, () => tools.tools().length > 0);
    expect(namesOf(tools)).toEqual([0, 1, 2, 3, 4].map((page) => `mcp__far__page_${page}`));
  });

  it('with an address that is none is left out', async () => {
    const tools = rig.session([{ type: 'http', name: 'far', url: 'ftp://nowhere', headers: [] }]);
    await until(tools, () => rig.notices.length > 0);
    expect(rig.notices[0]?.description).toContain('is no http or https address');
  });
});
