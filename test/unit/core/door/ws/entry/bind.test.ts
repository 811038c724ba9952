import { describe, expect, it } from 'vitest';
import { bindOf, requireSafe, urlOf } from '../../../../../../src/core/door/ws/entry/bind.ts';

describe('where a WebSocket door listens', () => {
  it.each([
    ['127.0.0.1:8765', { address: '127.0.0.1', port: 8765, isLoopback: true }],
    ['127.9.8.7:0', { address: '127.9.8.7', port: 0, isLoopback: true }],
    ['[::1]:1', { address: '::1', port: 1, isLoopback: true }],
    ['0.0.0.0:80', { address: '0.0.0.0', port: 80, isLoopback: false }],
    ['[::]:80', { address: '::', port: 80, isLoopback: false }],
    ['192.0.2.7:80', { address: '192.0.2.7', port: 80, isLoopback: false }],
  ])('is read from %s', async (listen, bind) => {
    expect(await bindOf(listen)).toEqual(bind);
  });

  it.each(['', '8765', ':8765', '127.0.0.1', '127.0.0.1:', '127.0.0.1:70000', '::1:80', 'a b:1'])(
    'is not read from "%s"',
    async (listen) => {
      await expect(bindOf(listen)).rejects.toMatchObject({ code: 'ws.bad_listen' });
    },
  );

  it('needs TLS and a token where other machines can come', async () => {
    const open = await bindOf('0.0.0.0:0');
    for (const [tls, token] of [
      [false, false],
      [true, false],
      [false, true],
    ] as const)
      expect(() => requireSafe(open, { tls, token })).toThrow(
        expect.objectContaining({ code: 'ws.public_bind' }),
      );
    requireSafe(open, { tls: true, token: true });
    requireSafe(await bindOf('127.0.0.1:0'), { tls: false, token: false });
  });

  it('is shown as clients write it', () => {
    expect(urlOf('127.0.0.1', 80, false)).toBe('ws://127.0.0.1:80/acp');
    expect(urlOf('::1', 81, true)).toBe('wss://[::1]:81/acp');
  });
});
