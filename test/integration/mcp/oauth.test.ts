import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpServer } from '../../../src/protocol/acp.ts';
import { legacySse, streamableHttp } from '../../support/mcp-server/http.ts';
import { FakeAuthorization } from '../../support/mcp-server/oauth.ts';
import { browse, McpRig, textOf, until, untilTool } from '../../support/mcp-server/rig.ts';
import { WebServer } from '../../support/mcp-server/web-server.ts';

let rig: McpRig;
let authorization: FakeAuthorization;
let web: WebServer;

beforeEach(async () => {
  rig = await McpRig.open();
  authorization = new FakeAuthorization(streamableHttp());
  web = await WebServer.open(authorization.handler);
});
afterEach(async () => {
  await rig.close();
  await web.close();
});

function guarded(type: 'http' | 'sse' = 'http', origin = web.origin): McpServer {
  return { type, name: 'far', url: `${origin}/${type === 'sse' ? 'sse' : 'mcp'}`, headers: [] };
}

/** A person who signs in and lets the session notice it by itself. */
function signsIn(): void {
  rig.onSignIn = async ({ url, arrived }) => {
    await browse(url);
    return await arrived;
  };
}

describe.each(['http', 'sse'] as const)('a server over %s that wants a login', (type) => {
  it('asks when a turn begins, and its tools are there when the sign-in came back', async () => {
    const own = new FakeAuthorization(type === 'sse' ? legacySse() : streamableHttp());
    const server = await WebServer.open(own.handler);
    const tools = rig.session([guarded(type, server.origin)]);
    await until(tools, () => rig.notices.length > 0);
    expect(rig.notices[0]?.title).toBe('MCP server far needs a sign-in');
    expect(rig.signIns).toEqual([]);
    signsIn();
    await tools.prepare(rig.turn());
    expect(rig.signIns).toHaveLength(1);
    const asked = new URL(rig.signIns[0]?.url ?? '');
    expect(asked.pathname).toBe('/authorize');
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    expect(asked.searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(asked.searchParams.get('scope')).toBe('mcp');
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
    await tools.dispose();
    await server.close();
  });
});

describe('a login', () => {
  async function signedIn(): Promise<ReturnType<McpRig['session']>> {
    const tools = rig.session([guarded()]);
    signsIn();
    await until(tools, () => rig.notices.length > 0);
    await tools.prepare(rig.turn());
    await untilTool(tools, 'mcp__far__echo');
    return tools;
  }

  it('is kept over a restart, in a file for its owner only', async () => {
    await (await signedIn()).dispose();
    const path = rig.path('mcp-logins.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain(authorization.issued[0]);
    const again = rig.session([guarded()], rig.restarted());
    await untilTool(again, 'mcp__far__echo');
    expect(rig.signIns).toHaveLength(1);
  });

  it('leaves no token in notices, questions or the log', async () => {
    const tools = await signedIn();
    await rig.call(tools, 'mcp__far__echo', { text: 'hi' });
    const told = JSON.stringify([rig.notices, rig.signIns.map(({ url }) => url), rig.logged]);
    expect(authorization.issued).toHaveLength(2);
    for (const token of authorization.issued) expect(told).not.toContain(token);
  });

  it('is renewed without a person when the token runs out', async () => {
    const tools = await signedIn();
    authorization.expire();
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
    expect(authorization.refreshed).toHaveLength(1);
    expect(rig.signIns).toHaveLength(1);
  });

  it('is asked for in the middle of a call when nothing can be renewed', async () => {
    const tools = await signedIn();
    authorization.expire(true);
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
    expect(rig.signIns).toHaveLength(2);
  });

  it('is widened when a call needs more than it allows', async () => {
    const tools = await signedIn();
    authorization.callScope = 'write';
    expect(textOf(await rig.call(tools, 'mcp__far__echo', { text: 'hi' }))).toBe('echo: hi');
    expect(rig.signIns).toHaveLength(2);
    const asked = new URL(rig.signIns[1]?.url ?? '').searchParams.get('scope');
    expect(asked?.split(' ').sort()).toEqual(['mcp', 'write']);
  });

  it('that is declined in the middle of a call fails the call alone', async () => {
    const tools = await signedIn();
    authorization.expire(true);
    rig.onSignIn = async () => false;
    const outcome = await rig.call(tools, 'mcp__far__echo', { text: 'hi' });
    expect(outcome.status).toBe('failed');
    expect(textOf(outcome)).toContain('needs a sign-in');
  });

  it('in one session is good for the others', async () => {
    const [one, two] = [rig.session([guarded()]), rig.session([guarded()])];
    await until(one, () => rig.notices.length > 0);
    await until(two, () => rig.notices.length > 1);
    signsIn();
    await one.prepare(rig.turn());
    await untilTool(two, 'mcp__far__echo');
    expect(rig.signIns).toHaveLength(1);
  });

  it('that is declined is not asked for again, and the turn goes on', async () => {
    const tools = rig.session([guarded()]);
    await until(tools, () => rig.notices.length > 0);
    await tools.prepare(rig.turn());
    await tools.prepare(rig.turn());
    expect(rig.signIns).toHaveLength(1);
    expect(rig.notices.at(-1)).toMatchObject({
      severity: 'warning',
      title: 'MCP server far is left out',
    });
    expect(tools.tools()).toEqual([]);
  });

  it('that Stop cut short is asked for again', async () => {
    const tools = rig.session([guarded()]);
    await until(tools, () => rig.notices.length > 0);
    const stop = new AbortController();
    rig.onSignIn = async () => {
      stop.abort();
      return false;
    };
    await tools.prepare(rig.turn(stop.signal));
    signsIn();
    await tools.prepare(rig.turn());
    await untilTool(tools, 'mcp__far__echo');
    expect(rig.signIns).toHaveLength(2);
  });

  it('that the page refused is reported', async () => {
    authorization.denies = true;
    const tools = rig.session([guarded()]);
    await until(tools, () => rig.notices.length > 0);
    signsIn();
    await tools.prepare(rig.turn());
    expect(rig.notices.at(-1)?.description).toContain('did not sign you in (access_denied)');
  });

  it('takes no answer with another state', async () => {
    const tools = rig.session([guarded()]);
    await until(tools, () => rig.notices.length > 0);
    rig.onSignIn = async ({ url, arrived }) => {
      const redirect = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      redirect.search = 'code=stolen&state=guessed';
      expect((await fetch(redirect)).status).toBe(400);
      await browse(url);
      return await arrived;
    };
    await tools.prepare(rig.turn());
    await untilTool(tools, 'mcp__far__echo');
  });

  it('registers anew when its old port is taken, since a client is good for one address', async () => {
    await (await signedIn()).dispose();
    authorization.expire(true);
    const [before = ''] = authorization.registered;
    const squatter = await WebServer.open(async () => null, Number(new URL(before).port));
    const again = rig.session([guarded()], rig.restarted());
    rig.notices.length = 0;
    await until(again, () => rig.notices.length > 0);
    await again.prepare(rig.turn());
    await untilTool(again, 'mcp__far__echo');
    expect(authorization.registered).toHaveLength(2);
    expect(authorization.registered[1]).not.toBe(before);
    await squatter.close();
  });
});
