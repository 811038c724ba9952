import { existsSync, readFileSync, watch } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deferred } from '../../../src/base/deferred.ts';
import {
  McpRig,
  namesOf,
  stdioServer,
  textOf,
  toolOf,
  until,
  untilTool,
} from '../../support/mcp-server/rig.ts';
import { PAGE } from '../../support/mcp-server/toolbox.ts';

let rig: McpRig;
beforeEach(async () => {
  rig = await McpRig.open();
});
afterEach(async () => {
  await rig.close();
});

/** Resolves when the file is there. */
async function fileAppears(path: string): Promise<void> {
  const there = new Deferred<void>();
  const watcher = watch(rig.folder, () => {
    if (existsSync(path)) there.resolve();
  });
  if (existsSync(path)) there.resolve();
  await there.promise;
  watcher.close();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilDead(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

function pidIn(name: string): number {
  return Number(readFileSync(rig.path(name), 'utf8'));
}

describe('the tools of a stdio server', () => {
  it('are there once it is connected, as it describes them', async () => {
    const tools = rig.session([stdioServer('x')]);
    expect(tools.tools()).toEqual([]);
    await untilTool(tools, 'mcp__x__echo');
    const echo = toolOf(tools, 'mcp__x__echo');
    expect(echo.readOnly).toBe(true);
    expect(echo.definition.inputSchema).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    });
    expect(toolOf(tools, 'mcp__x__write_file').readOnly).toBe(false);
    const prepared = await echo.prepare({}, rig.context(new AbortController().signal));
    expect(prepared).toMatchObject({
      accesses: [{ kind: 'external', server: 'x', tool: 'echo' }],
      preview: { title: 'x: Echo' },
    });
    expect(rig.notices).toEqual([]);
  });

  it('give the model and the person what they answer', async () => {
    const tools = rig.session([stdioServer('x')]);
    await untilTool(tools, 'mcp__x__echo');
    const echo = await rig.call(tools, 'mcp__x__echo', { text: 'hi' });
    expect(echo).toMatchObject({
      status: 'completed',
      parts: [{ type: 'text', text: 'echo: hi' }],
    });
    const measured = await rig.call(tools, 'mcp__x__measure');
    expect(measured.rawOutput).toEqual({ celsius: 21.5 });
    const failed = await rig.call(tools, 'mcp__x__fail');
    expect(failed).toMatchObject({ status: 'failed', parts: [{ text: 'no such city' }] });
    const picture = await rig.call(tools, 'mcp__x__picture');
    expect(picture.parts.map(({ type }) => type)).toEqual(['image', 'text', 'text']);
    expect(textOf(await rig.call(tools, 'mcp__x__cwd'))).toBe(rig.folder);
    expect(textOf(await rig.call(tools, 'mcp__x__roots'))).toContain(rig.folder);
    expect(textOf(await rig.call(tools, 'mcp__x__sample'))).toBe('refused');
  });

  it('get the variables given to them and none of the providers’ keys', async () => {
    process.env['OPENAI_API_KEY'] = 'sk-not-for-servers';
    try {
      const rig2 = await McpRig.open();
      const tools = rig2.session([stdioServer('x', [], { GIVEN: 'yes' })]);
      await untilTool(tools, 'mcp__x__env');
      expect(textOf(await rig2.call(tools, 'mcp__x__env', { name: 'GIVEN' }))).toBe('yes');
      expect(textOf(await rig2.call(tools, 'mcp__x__env', { name: 'OPENAI_API_KEY' }))).toBe(
        'not set',
      );
      await rig2.close();
    } finally {
      delete process.env['OPENAI_API_KEY'];
    }
  });

  it('can be a hundred, with a result of ten megabytes cut to what fits', async () => {
    const tools = rig.session([stdioServer('x', ['--tools', '100'])]);
    await untilTool(tools, 'mcp__x__tool_99');
    expect(new Set(namesOf(tools)).size).toBe(tools.tools().length);
    expect(textOf(await rig.call(tools, 'mcp__x__tool_57'))).toBe('I am 57');
    const big = textOf(await rig.call(tools, 'mcp__x__big', { bytes: 10 * 1024 * 1024 }));
    expect(Buffer.byteLength(big)).toBeLessThan(129 * 1024);
    expect(big).toContain('10485760 bytes');
  });

  it('survive text on standard output that is no message', async () => {
    const tools = rig.session([stdioServer('x', ['--noise'])]);
    await untilTool(tools, 'mcp__x__garbage');
    expect(textOf(await rig.call(tools, 'mcp__x__garbage'))).toBe('printed');
    expect(textOf(await rig.call(tools, 'mcp__x__echo', { text: 'still' }))).toBe('echo: still');
    expect(rig.notices).toEqual([]);
  });

  it('are understood from a server that speaks only the newest revision', async () => {
    const tools = rig.session([stdioServer('x', ['--modern'])]);
    await untilTool(tools, 'mcp__x__echo');
    expect(textOf(await rig.call(tools, 'mcp__x__echo', { text: 'hi' }))).toBe('echo: hi');
    await rig.call(tools, 'mcp__x__toggle');
    await untilTool(tools, 'mcp__x__extra');
  });

  it('come and go as the server says', async () => {
    const tools = rig.session([stdioServer('x')]);
    await untilTool(tools, 'mcp__x__toggle');
    await rig.call(tools, 'mcp__x__toggle');
    await untilTool(tools, 'mcp__x__extra');
    expect(textOf(await rig.call(tools, 'mcp__x__extra'))).toBe('extra!');
    await rig.call(tools, 'mcp__x__toggle');
    await until(tools, () => !namesOf(tools).includes('mcp__x__extra'));
  });

  it('may ask the person something', async () => {
    const tools = rig.session([stdioServer('x')]);
    await untilTool(tools, 'mcp__x__ask_name');
    rig.answer = { name: 'Ann' };
    expect(textOf(await rig.call(tools, 'mcp__x__ask_name'))).toBe('hello Ann');
    expect(rig.asked).toMatchObject([
      { message: 'x asks: What is your name?', schema: { required: ['name'] } },
    ]);
    rig.answer = null;
    expect(textOf(await rig.call(tools, 'mcp__x__ask_name'))).toBe('decline');
  });
});

describe('a page that a server sends the person to', () => {
  it('is done when the server says so, or when the person does', async () => {
    const tools = rig.session([stdioServer('x')]);
    await untilTool(tools, 'mcp__x__ask_page');
    rig.onSignIn = async ({ arrived }) => {
      void rig.call(tools, 'mcp__x__page_done');
      return await arrived;
    };
    expect(textOf(await rig.call(tools, 'mcp__x__ask_page'))).toBe('accept');
    expect(rig.signIns).toMatchObject([{ target: 'x', message: 'x asks: Pay here', url: PAGE }]);
    rig.onSignIn = async () => false;
    expect(textOf(await rig.call(tools, 'mcp__x__ask_page'))).toBe('decline');
  });
});

describe('a stdio server that dies', () => {
  it('fails the call it worked on, says so, and comes back', async () => {
    const tools = rig.session([stdioServer('x', ['--pid', rig.path('pid')])]);
    await untilTool(tools, 'mcp__x__slow');
    const slow = rig.call(tools, 'mcp__x__slow', { ms: 60_000, path: rig.path('out') });
    await fileAppears(rig.path('out.begun'));
    const snapshot = toolOf(tools, 'mcp__x__echo');
    process.kill(pidIn('pid'), 'SIGKILL');
    const outcome = await slow;
    expect(outcome.status).toBe('failed');
    expect(textOf(outcome)).toContain('lost during this call');
    await until(tools, () => rig.notices.length > 0);
    expect(rig.notices[0]).toMatchObject({ severity: 'warning', title: 'MCP server x was lost' });
    expect(tools.tools()).toEqual([]);
    const late = await rig.run(snapshot, { text: 'anybody?' });
    expect(late.status).toBe('failed');
    expect(textOf(late)).toContain('not connected');
    await untilTool(tools, 'mcp__x__echo');
    expect(rig.notices[1]).toMatchObject({ severity: 'info', title: 'MCP server x is back' });
    expect(textOf(await rig.run(snapshot, { text: 'again' }))).toBe('echo: again');
  });

  it('between turns is there again when the next turn begins', async () => {
    const tools = rig.session([stdioServer('x', ['--pid', rig.path('pid')])]);
    await untilTool(tools, 'mcp__x__echo');
    process.kill(pidIn('pid'), 'SIGKILL');
    await until(tools, () => tools.tools().length === 0);
    await tools.prepare(rig.turn());
    await untilTool(tools, 'mcp__x__echo');
    expect(rig.notices.map(({ title }) => title)).toEqual([
      'MCP server x was lost',
      'MCP server x is back',
    ]);
  });

  it('takes its whole process group with it', async () => {
    const tools = rig.session([
      stdioServer('x', ['--child', rig.path('child'), '--pid', rig.path('pid')]),
    ]);
    await untilTool(tools, 'mcp__x__echo');
    const child = pidIn('child');
    expect(isAlive(child)).toBe(true);
    await tools.dispose();
    await untilDead(pidIn('pid'));
    await untilDead(child);
  });
});

describe('a stdio server that can’t be used', () => {
  it('is named with every place that was looked at when its command is missing', async () => {
    const tools = rig.session([{ name: 'x', command: 'no-such-command-here', args: [], env: [] }]);
    await until(tools, () => rig.notices.length > 0);
    expect(rig.notices).toHaveLength(1);
    expect(rig.notices[0]?.title).toBe('MCP server x is not available');
    expect(rig.notices[0]?.description).toContain('no-such-command-here was not found. Tried');
    await tools.prepare(rig.turn());
    expect(rig.notices).toHaveLength(1);
  });

  it('is told with its own words when it ends at once', async () => {
    const script = 'console.error("Error: TOKEN hush-hush is wrong"); process.exit(7)';
    const tools = rig.session([
      {
        name: 'x',
        command: process.execPath,
        args: ['-e', script],
        env: [{ name: 'TOKEN', value: 'hush-hush' }],
      },
    ]);
    await until(tools, () => rig.notices.length > 0);
    expect(rig.notices[0]?.description).toContain('exit code 7. It wrote: Error: TOKEN [redacted]');
    expect(rig.logged.join('\n')).not.toContain('hush-hush');
  });

  it('delays a turn only briefly when it hangs, and dies with the session', async () => {
    const tools = rig.session([
      stdioServer('x', ['--hang', '--pid', rig.path('pid')]),
      stdioServer('y'),
    ]);
    await untilTool(tools, 'mcp__y__echo');
    await tools.prepare(rig.turn());
    expect(namesOf(tools).some((name) => name.startsWith('mcp__x__'))).toBe(false);
    await fileAppears(rig.path('pid'));
    const pid = pidIn('pid');
    await tools.dispose();
    await untilDead(pid);
  });
});

describe('stopping', () => {
  it('ends the process of a call that would go on, and leaves no trace of it', async () => {
    const tools = rig.session([stdioServer('x', ['--pid', rig.path('pid')])]);
    await untilTool(tools, 'mcp__x__slow');
    const before = pidIn('pid');
    const stop = new AbortController();
    const slow = rig.call(tools, 'mcp__x__slow', { ms: 1_000, path: rig.path('out') }, stop.signal);
    await fileAppears(rig.path('out.begun'));
    expect(rig.output).toBe('half way (1/2)\n');
    stop.abort();
    await tools.stopCalls();
    expect((await slow).status).toBe('failed');
    await untilDead(before);
    await tools.prepare(rig.turn());
    await untilTool(tools, 'mcp__x__echo');
    expect(pidIn('pid')).not.toBe(before);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(existsSync(rig.path('out'))).toBe(false);
    expect(rig.notices).toEqual([]);
  });

  it('leaves alone a server that works on nothing, and the untouched call writes its file', async () => {
    const tools = rig.session([
      stdioServer('x', ['--pid', rig.path('x.pid')]),
      stdioServer('y', ['--pid', rig.path('y.pid')]),
    ]);
    await untilTool(tools, 'mcp__x__slow');
    await untilTool(tools, 'mcp__y__echo');
    const idle = pidIn('y.pid');
    await rig.call(tools, 'mcp__x__slow', { ms: 100, path: rig.path('out') });
    expect(readFileSync(rig.path('out'), 'utf8')).toBe('done');
    const stop = new AbortController();
    const slow = rig.call(tools, 'mcp__x__slow', { ms: 9_000, path: rig.path('two') }, stop.signal);
    await fileAppears(rig.path('two.begun'));
    stop.abort();
    await tools.stopCalls();
    await slow;
    expect(isAlive(idle)).toBe(true);
    expect(textOf(await rig.call(tools, 'mcp__y__echo', { text: 'here' }))).toBe('echo: here');
  });
});

describe('other servers', () => {
  it('replace those before; one that is named again keeps its process', async () => {
    const kept = stdioServer('x', ['--pid', rig.path('x.pid')]);
    const tools = rig.session([kept, stdioServer('y', ['--pid', rig.path('y.pid')])]);
    await untilTool(tools, 'mcp__x__echo');
    await untilTool(tools, 'mcp__y__echo');
    const [x, y] = [pidIn('x.pid'), pidIn('y.pid')];
    tools.configure([stdioServer('z'), kept]);
    await untilTool(tools, 'mcp__z__echo');
    await untilDead(y);
    expect(isAlive(x)).toBe(true);
    expect(namesOf(tools).some((name) => name.startsWith('mcp__y__'))).toBe(false);
    expect(namesOf(tools)).toContain('mcp__x__echo');
  });
});
