import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { Emitter } from '../../../../src/base/emitter.ts';
import type { ExternalNotice } from '../../../../src/core/host/session-resources.ts';
import type { Connection } from '../../../../src/core/mcp/connection/connection.ts';
import { McpError, type McpErrorCode } from '../../../../src/core/mcp/errors.ts';
import { ServerLink } from '../../../../src/core/mcp/link/server-link.ts';
import { ManualClock } from '../../../support/engine/a-session.ts';

class FakeConnection implements Connection {
  readonly isProcess = true;
  readonly gone = new Deferred<McpError>();
  readonly changed = new Emitter<void>();
  readonly closed: string[] = [];
  readonly lost = this.gone.promise;
  readonly onDidChangeTools = this.changed.event;
  tools = (): [] => [];
  call = (): Promise<never> => Promise.reject(new McpError('mcp.failed', 'not here'));
  close = async (how: string): Promise<void> => {
    this.closed.push(how);
  };
}

/** A link whose every attempt to connect is decided by the test. */
class Bench {
  readonly clock = new ManualClock();
  readonly attempts: { connection: Deferred<Connection>; signal: AbortSignal }[] = [];
  readonly notices: (ExternalNotice | null)[] = [];
  readonly #attempted = new Emitter<void>();
  readonly link = new ServerLink('x', {
    clock: this.clock,
    connect: (signal) => {
      const connection = new Deferred<Connection>();
      this.attempts.push({ connection, signal });
      this.#attempted.fire();
      return connection.promise;
    },
  });

  constructor() {
    this.link.onDidChange((notice) => this.notices.push(notice));
  }

  get titles(): (string | undefined)[] {
    return this.notices.map((notice) => notice?.title);
  }

  async attempt(number: number): Promise<Deferred<Connection>> {
    while (this.attempts.length < number) {
      const more = new Deferred<void>();
      const subscription = this.#attempted.event(() => more.resolve());
      await more.promise;
      subscription.dispose();
    }
    const attempt = this.attempts[number - 1];
    if (attempt === undefined) throw new TypeError('There is no such attempt');
    return attempt.connection;
  }

  async connects(number: number): Promise<FakeConnection> {
    const connection = new FakeConnection();
    (await this.attempt(number)).resolve(connection);
    await this.becomes('connected');
    return connection;
  }

  async fails(number: number, code: McpErrorCode = 'mcp.unreachable'): Promise<void> {
    const changed = this.#change();
    (await this.attempt(number)).reject(new McpError(code, 'It was not there.'));
    await changed;
  }

  async loses(connection: FakeConnection, code: McpErrorCode = 'mcp.lost'): Promise<void> {
    const changed = this.#change();
    connection.gone.resolve(new McpError(code, 'It went.'));
    await changed;
  }

  async becomes(kind: string): Promise<void> {
    while (this.link.state.kind !== kind) await this.#change();
  }

  async #change(): Promise<void> {
    const changed = new Deferred<void>();
    const subscription = this.link.onDidChange(() => changed.resolve());
    await changed.promise;
    subscription.dispose();
  }
}

const NEVER = new AbortController().signal;

describe('a link to an MCP server', () => {
  it('does nothing before it is woken, and connects once', async () => {
    const bench = new Bench();
    expect(bench.attempts).toHaveLength(0);
    bench.link.wake();
    bench.link.wake();
    await bench.connects(1);
    expect(bench.attempts).toHaveLength(1);
    expect(bench.notices).toEqual([null]);
  });

  it('reports a failure once, pauses longer each time, and says when it is back', async () => {
    const bench = new Bench();
    bench.link.wake();
    await bench.fails(1);
    for (const [index, pause] of [500, 1_000, 2_000].entries()) {
      await bench.clock.whenSleeping();
      bench.clock.advance(pause - 1);
      expect(bench.attempts).toHaveLength(index + 1);
      bench.clock.advance(1);
      await bench.attempt(index + 2);
      if (index < 2) await bench.fails(index + 2);
    }
    await bench.connects(4);
    const told = bench.titles.filter((title) => title !== undefined);
    expect(told).toEqual(['MCP server x is not available', 'MCP server x is back']);
  });

  it('rests after six failures in a row until a turn begins', async () => {
    const bench = new Bench();
    bench.link.wake();
    for (let number = 1; number <= 6; number += 1) {
      await bench.fails(number);
      if (number < 6) {
        await bench.clock.whenSleeping();
        bench.clock.advance(30_000);
      }
    }
    expect(bench.link.state.kind).toBe('resting');
    bench.clock.advance(3_600_000);
    expect(bench.attempts).toHaveLength(6);
    bench.link.wake();
    await bench.connects(7);
  });

  it('does not try again by itself what can’t work', async () => {
    const bench = new Bench();
    bench.link.wake();
    await bench.fails(1, 'mcp.bad_config');
    expect(bench.link.state.kind).toBe('resting');
  });

  it('has nobody to call after a loss, says so, and connects again', async () => {
    const bench = new Bench();
    bench.link.wake();
    const first = await bench.connects(1);
    expect(bench.link.connection()).toBe(first);
    await bench.loses(first);
    expect(() => bench.link.connection()).toThrow('The MCP server x is not connected now');
    expect(bench.titles.at(-1)).toBe('MCP server x was lost');
    bench.clock.advance(500);
    const second = await bench.connects(2);
    expect(bench.link.connection()).toBe(second);
    expect(bench.titles.at(-1)).toBe('MCP server x is back');
  });

  it('that flaps pauses longer; one that held for a minute starts anew', async () => {
    const bench = new Bench();
    bench.link.wake();
    await bench.loses(await bench.connects(1));
    bench.clock.advance(500);
    await bench.loses(await bench.connects(2));
    bench.clock.advance(999);
    expect(bench.attempts).toHaveLength(2);
    bench.clock.advance(1);
    const steady = await bench.connects(3);
    bench.clock.advance(60_000);
    await bench.loses(steady);
    bench.clock.advance(500);
    await bench.attempt(4);
  });

  it('waits for a sign-in and for nothing else', async () => {
    const bench = new Bench();
    bench.link.wake();
    await bench.fails(1, 'mcp.login_needed');
    bench.link.wake();
    bench.clock.advance(3_600_000);
    expect(bench.link.state.kind).toBe('login');
    expect(bench.attempts).toHaveLength(1);
    bench.link.signedIn();
    await bench.connects(2);
  });

  it('keeps a turn waiting for as long as told, and not for an attempt that hangs', async () => {
    const bench = new Bench();
    await bench.link.settled(1_500, NEVER);
    bench.link.wake();
    let isOver = false;
    const settled = bench.link.settled(1_500, NEVER).then(() => {
      isOver = true;
    });
    await bench.clock.whenSleeping();
    bench.clock.advance(1_499);
    await Promise.resolve();
    expect(isOver).toBe(false);
    bench.clock.advance(1);
    await settled;
    bench.clock.advance(10_000);
    await bench.link.settled(1_500, NEVER);
  });

  it('lets a waiting turn go on as soon as it is connected, or on Stop', async () => {
    const bench = new Bench();
    bench.link.wake();
    const stop = new AbortController();
    const stopped = bench.link.settled(1_500, stop.signal);
    stop.abort();
    await stopped;
    const settled = bench.link.settled(1_500, NEVER);
    await bench.connects(1);
    await settled;
  });

  it('restarts without a word', async () => {
    const bench = new Bench();
    bench.link.wake();
    const first = await bench.connects(1);
    await bench.link.restart();
    expect(first.closed).toEqual(['now']);
    first.gone.resolve(new McpError('mcp.lost', 'It went.'));
    await bench.connects(2);
    expect(bench.titles).toEqual([undefined, undefined, undefined]);
  });

  it('closes what is connected, and what connects too late', async () => {
    const one = new Bench();
    one.link.wake();
    const connection = await one.connects(1);
    await one.link.close();
    expect(connection.closed).toEqual(['gently']);
    const two = new Bench();
    two.link.wake();
    const attempt = await two.attempt(1);
    const closing = two.link.close();
    expect(two.attempts[0]?.signal.aborted).toBe(true);
    const late = new FakeConnection();
    attempt.resolve(late);
    await closing;
    expect(late.closed).toEqual(['now']);
  });
});
