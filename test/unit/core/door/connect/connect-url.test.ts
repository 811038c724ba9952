import { describe, expect, it } from 'vitest';
import { connectUrl } from '../../../../../src/core/door/connect/connect-url.ts';

describe('what is connected to', () => {
  it.each([
    ['ws://127.0.0.1:8765', 'ws://127.0.0.1:8765/acp'],
    ['wss://host.example/', 'wss://host.example/acp'],
    ['wss://host.example/other?x=1', 'wss://host.example/other?x=1'],
    ['WS://[::1]:1/acp', 'ws://[::1]:1/acp'],
  ])('is %s', (text, url) => {
    expect(connectUrl(text).href).toBe(url);
  });

  it.each(['', 'host:1', 'http://host/acp', 'ws://', 'ws://host/acp#part'])(
    'is never "%s"',
    (text) => {
      expect(() => connectUrl(text)).toThrow(expect.objectContaining({ code: 'connect.bad_url' }));
    },
  );
});
