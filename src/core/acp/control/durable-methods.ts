import type { JsonObject } from '../../../base/json.ts';
import type { PilothouseAgentMethods } from '../../../protocol/pilothouse.ts';
import * as checks from '../generated/schema-checks.mjs';
import { type ControlMethod, controlMethod } from './control-method.ts';
import { commandIdOf } from './control-params.ts';

type Params<M extends keyof PilothouseAgentMethods> = PilothouseAgentMethods[M][0];
type Result<M extends keyof PilothouseAgentMethods> = { result: PilothouseAgentMethods[M][1] };

/** Commands that came with the durable lane. */
export const DURABLE_METHODS: readonly ControlMethod[] = [
  controlMethod<Params<'_pilothouse/compact'>>(
    '_pilothouse/compact',
    checks.loopOptional,
    'message',
    async (params, target, { controls }): Promise<Result<'_pilothouse/compact'>> => {
      const { loopId } = params;
      const request = { ...(loopId === undefined ? {} : { loopId }), ...commandIdOf(params) };
      return { result: await controls.compact(target, request) };
    },
  ),
  controlMethod<Params<'_pilothouse/gates/respond'> & { content?: JsonObject }>(
    '_pilothouse/gates/respond',
    checks.gateRespond,
    'message',
    async (params, target, { controls }): Promise<Result<'_pilothouse/gates/respond'>> => {
      const { gateId, optionId, content, decline, note } = params;
      await controls.respondToGate(target, {
        gateId,
        ...(optionId === undefined ? {} : { optionId }),
        ...(content === undefined ? {} : { content }),
        ...(decline === undefined ? {} : { decline }),
        ...(note === undefined ? {} : { note }),
        ...commandIdOf(params),
      });
      return { result: { status: 'answered' } };
    },
  ),
  controlMethod<Params<'_pilothouse/commands/withdraw'>>(
    '_pilothouse/commands/withdraw',
    checks.commandRef,
    'message',
    async (
      { commandId },
      target,
      { controls },
    ): Promise<Result<'_pilothouse/commands/withdraw'>> => ({
      result: { status: await controls.withdraw(target, commandId) },
    }),
  ),
  controlMethod<Params<'_pilothouse/loops/activate'>>(
    '_pilothouse/loops/activate',
    checks.loopRef,
    'message',
    async ({ loopId }, target, { controls }): Promise<Result<'_pilothouse/loops/activate'>> => {
      await controls.activateLoop(target, loopId);
      return { result: { activeLoopId: loopId } };
    },
  ),
  controlMethod<Params<'_pilothouse/delegates/message'>>(
    '_pilothouse/delegates/message',
    checks.delegateMessage,
    'message',
    async (params, target, { controls }): Promise<Result<'_pilothouse/delegates/message'>> => {
      const { loopId, text } = params;
      return {
        result: await controls.messageDelegate(target, { loopId, text, ...commandIdOf(params) }),
      };
    },
  ),
  controlMethod<Params<'_pilothouse/delegates/stop'>>(
    '_pilothouse/delegates/stop',
    checks.loopRef,
    'message',
    async ({ loopId }, target, { controls }): Promise<Result<'_pilothouse/delegates/stop'>> => {
      const didStop = await controls.stopDelegate(target, loopId);
      return { result: { status: didStop ? 'stopped' : 'already_stopped' } };
    },
  ),
  controlMethod<Params<'_pilothouse/checkpoints/create'>>(
    '_pilothouse/checkpoints/create',
    checks.sessionOnly,
    'shape',
    async (params, target, { controls }): Promise<Result<'_pilothouse/checkpoints/create'>> => {
      const { checkpointId, files } = await controls.createCheckpoint(target, commandIdOf(params));
      const { coverage, reason } = files;
      return { result: { checkpointId, coverage, ...(reason === undefined ? {} : { reason }) } };
    },
  ),
];
