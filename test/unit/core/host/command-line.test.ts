import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../../../src/core/host/compose/command-line.ts';
import { requireNode } from '../../../../src/core/host/compose/lifetime.ts';

describe('the command line', () => {
  it('serves with the model of the option, else of the environment, else none', () => {
    const model = (args: string[], env: NodeJS.ProcessEnv = {}) =>
      parseCommandLine(args, env, '1.2.3');
    expect(model(['--model', 'a/b'], { PILOTHOUSE_MODEL: 'c/d' })).toMatchObject({
      kind: 'door',
      inProcess: false,
      model: 'a/b',
    });
    expect(model([], { PILOTHOUSE_MODEL: ' c/d ' })).toMatchObject({ model: 'c/d' });
    expect(model([], { PILOTHOUSE_MODEL: '' })).toMatchObject({ model: null, logLevel: 'info' });
  });

  it('prints help and version before anything else is looked at', () => {
    expect(parseCommandLine(['--help', '--log-level', 'x'], {}, '1')).toMatchObject({
      kind: 'print',
    });
    expect(parseCommandLine(['--version'], {}, '1.2.3')).toEqual({
      kind: 'print',
      text: '1.2.3\n',
    });
  });

  it('asks the host how it is, or to end', () => {
    expect(parseCommandLine(['host', '--status'], {}, '1')).toEqual({ kind: 'host_status' });
    expect(parseCommandLine(['host', '--stop'], {}, '1')).toEqual({ kind: 'host_stop' });
    expect(parseCommandLine(['--in-process'], {}, '1')).toMatchObject({ inProcess: true });
  });

  it('opens a WebSocket door, and connects to one', () => {
    expect(parseCommandLine(['serve', '--acp-ws', '127.0.0.1:0'], {}, '1')).toMatchObject({
      kind: 'serve_ws',
      listen: '127.0.0.1:0',
      tls: null,
      tokenFile: null,
      origins: [],
    });
    const tls = ['--tls-cert', 'c', '--tls-key', 'k', '--token-file', 't'];
    const origins = ['--origin', 'https://a', '--origin', 'https://b'];
    expect(
      parseCommandLine(['serve', '--acp-ws', 'h:1', ...tls, ...origins], {}, '1'),
    ).toMatchObject({
      tls: { certFile: 'c', keyFile: 'k' },
      tokenFile: 't',
      origins: ['https://a', 'https://b'],
    });
    expect(parseCommandLine(['connect', 'ws://h:1', '--ca', 'f'], {}, '1')).toMatchObject({
      kind: 'connect',
      url: 'ws://h:1',
      caFile: 'f',
    });
  });

  it.each([
    [['serve']],
    [['serve', '--acp-ws', 'h:1', '--tls-cert', 'c']],
    [['serve', 'word', '--acp-ws', 'h:1']],
    [['connect']],
    [['connect', 'ws://h:1', 'ws://h:2']],
  ])('does not guess what %j means', (args) => {
    expect(() => parseCommandLine(args, {}, '1')).toThrow('--help');
  });

  it.each([['host'], ['host', '--status', '--stop'], ['host', '--status', 'now']])(
    'does not guess what %s is to do',
    (...args) => {
      expect(() => parseCommandLine(args, {}, '1')).toThrow('--help');
    },
  );

  it.each([[['--what']], [['word']], [['--model']], [['--log-level', 'loud']]])(
    'refuses %j and points to the help',
    (args) => {
      expect(() => parseCommandLine(args, {}, '1')).toThrow('--help');
    },
  );
});

describe('the version of Node', () => {
  it.each(['22.13.0', '23.4.0', '24.0.0', '30.1.2'])('%s is new enough', (version) => {
    expect(() => requireNode(version)).not.toThrow();
  });

  it.each(['20.20.2', '22.12.9', '23.3.0'])(
    '%s is too old, and the message says which is needed',
    (version) => {
      expect(() => requireNode(version)).toThrow('22.13');
    },
  );
});
