import { afterEach, describe, expect, it, vi } from 'vitest';
import { CodedError, codeOf, isCoded } from '../../../src/base/errors.ts';
import { isRpcError, RpcError } from '../../../src/protocol/errors.ts';
import { PeerRefused } from '../../../src/protocol/transport/rpc-types.ts';

/** The same sources loaded a second time, as in another file of dist/: the classes are other objects. */
async function otherFile() {
  vi.resetModules();
  const { RpcError: OtherRpcError } = await import('../../../src/protocol/errors.ts');
  const refused = await import('../../../src/extension/sessions/control/refused.ts');
  const connection = await import('../../../src/extension/core/connection.ts');
  return { OtherRpcError, ...refused, ...connection };
}

describe('errors raised on purpose', () => {
  afterEach(() => vi.resetModules());

  it('are known by their code also where another file of the product raised them', async () => {
    const { OtherRpcError } = await otherFile();
    const error = new OtherRpcError('invalidParams', 'no such thing', { field: 'a' });
    expect(error).not.toBeInstanceOf(CodedError);
    expect(codeOf(error)).toBe('invalidParams');
    expect(isRpcError(error)).toBe(true);
  });

  it('are not confused with errors of the system that have a code too', () => {
    const error = Object.assign(new Error('gone'), { code: 'ENOENT' });
    expect(isCoded(error)).toBe(false);
    expect(codeOf(error)).toBeNull();
    expect(isCoded({ code: 'invalidParams' })).toBe(false);
  });

  it('keep what a peer refused apart from what is to be told to a peer', () => {
    expect(isRpcError(new PeerRefused(-32602, 'no', null))).toBe(false);
    expect(isRpcError(new RpcError('invalidParams', 'no'))).toBe(true);
  });

  it('say why a control was refused across files', async () => {
    const here = await import('../../../src/extension/sessions/control/refused.ts');
    const { AgentRequestError, ControlError } = await otherFile();
    const answered = new AgentRequestError('agent.refused', 'no', {
      rpcCode: -32000,
      details: { reason: 'no_active_prompt' },
    });
    expect(here.refusalOf(here.controlError(answered))).toBe('no_active_prompt');
    expect(here.refusalOf(new ControlError('cancelled', 'ended'))).toBe('cancelled');
    expect(here.refusalOf(answered)).toBeNull();
  });
});
