import { describe, expect, it } from 'vitest';
import { agentEnv } from '../../../../src/extension/core/agent-env.ts';
import { AgentRequestError } from '../../../../src/extension/core/connection.ts';
import { initializeParams } from '../../../../src/extension/core/handshake.ts';
import { folderInUseWords, outageOf } from '../../../../src/extension/core/offline-words.ts';
import { RestartPolicy } from '../../../../src/extension/core/restart-policy.ts';
import { sliceLines } from '../../../../src/extension/core/slice-lines.ts';

describe('the restart policy', () => {
  it('waits longer each time and then gives up', () => {
    let policy = new RestartPolicy();
    const decisions = [0, 1, 2, 3, 4].map((at) => {
      const next = policy.failed(at * 1_000);
      policy = next.policy;
      return next.decision;
    });
    expect(decisions).toEqual([
      { kind: 'retry', delay: 250 },
      { kind: 'retry', delay: 500 },
      { kind: 'retry', delay: 1_000 },
      { kind: 'retry', delay: 2_000 },
      { kind: 'give_up', failures: 5 },
    ]);
    expect(policy.reset().failed(9_000).decision).toEqual({ kind: 'retry', delay: 250 });
  });

  it('forgets failures of long ago', () => {
    let policy = new RestartPolicy();
    for (let at = 0; at < 20; at += 1) {
      const next = policy.failed(at * 100_000);
      policy = next.policy;
      expect(next.decision.kind).toBe('retry');
    }
  });
});

describe('the environment of agent-core', () => {
  it('runs the editor as Node and hands on nothing of its own (A24)', () => {
    const inherited = {
      PATH: '/bin',
      HOME: '/h',
      ELECTRON_NO_ASAR: '1',
      VSCODE_IPC_HOOK_CLI: '/sock',
      VSCODE_PORTABLE: '/p',
      SNAP: '/snap',
      NODE_OPTIONS: '--inspect',
    };
    expect(agentEnv({ inherited, extra: { X: 'y' }, dataFolder: '/data', isEditor: true })).toEqual(
      {
        PATH: '/bin',
        HOME: '/h',
        VSCODE_PORTABLE: '/p',
        X: 'y',
        PILOTHOUSE_HOME: '/data',
        ELECTRON_RUN_AS_NODE: '1',
      },
    );
    const own = agentEnv({ inherited, extra: {}, dataFolder: '', isEditor: false });
    expect(own).not.toHaveProperty('ELECTRON_RUN_AS_NODE');
  });

  it('does not lock itself out with keys meant for other clients', () => {
    const keys = { PILOTHOUSE_API_KEY: 'k', PILOTHOUSE_OBSERVER_KEY: 'o' };
    const env = agentEnv({ inherited: keys, extra: keys, dataFolder: '', isEditor: false });
    expect(env).toEqual({});
  });
});

describe('a start that failed', () => {
  const refused = (code: string) =>
    outageOf(
      new AgentRequestError('agent.refused', 'It is in use.', { details: { code } }),
      'It is in use.',
    );

  it('says how to use another data folder where this one is held by another process', () => {
    expect(folderInUseWords(refused('journal.locked'))).toBe(
      'It is in use. In the editor, another folder is set with the setting “pilothouse.agent.dataFolder”.',
    );
  });

  it('says nothing of folders where something else is wrong', () => {
    expect(folderInUseWords(refused('journal.too_new'))).toBeNull();
    expect(folderInUseWords(outageOf(new Error('exit code 1'), 'exit code 1'))).toBeNull();
  });
});

describe('the first request', () => {
  it('declares what this client can do', () => {
    expect(initializeParams('1.2.3', { documents: true, onDetach: 'keep' })).toMatchObject({
      protocolVersion: 1,
      clientInfo: { version: '1.2.3' },
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        elicitation: { form: {}, url: {} },
        session: { notices: {} },
        _meta: { pilothouse: { version: 1 }, harn: {} },
      },
    });
  });
});

describe('lines of an open document', () => {
  it('are counted from one', () => {
    const text = 'a\r\nb\nc';
    expect(sliceLines(text, undefined, undefined)).toBe(text);
    expect(sliceLines(text, 2, 1)).toBe('b\n');
    expect(sliceLines(text, 2, null)).toBe('b\nc');
    expect(sliceLines(text, 1, 1)).toBe('a\r\n');
    expect(sliceLines(text, 9, 1)).toBe('');
  });
});
