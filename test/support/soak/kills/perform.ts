import type { Answer, CrashRig } from '../rig/crash-rig.ts';
import { answerTo } from '../rig/gates.ts';
import { controlOf, script } from './acts.ts';
import type { Act } from './plan.ts';

/** Does an act as a client of one session; `messages` are the ids of injects, old ones first. Never rejects for an end. */
export async function perform(
  rig: CrashRig,
  { name, luck }: Act,
  sessionId: string,
  messages: string[],
): Promise<void> {
  const call = (method: string, more: object = {}): Promise<Answer> =>
    rig.call(method, { sessionId, ...more });
  const lines = script(rig, name);
  if (lines !== null) {
    await rig.prompt(sessionId, ...lines);
    return;
  }
  switch (name) {
    case 'steer':
    case 'note':
    case 'interrupt': {
      const modes = { steer: 'steer', note: 'queue', interrupt: 'interrupt_immediate' };
      const answer = await rig.inject(sessionId, modes[name], `run ${rig.mark()}`);
      if (answer.kind === 'ok') messages.push(String(answer.result['messageId']));
      return;
    }
    case 'answer':
    case 'refuse':
      await respond(rig, sessionId, name);
      return;
    case 'revoke':
      await call('session/revoke_inject', { messageId: messages.at(-1) ?? 'none' });
      return;
    case 'withdraw': {
      const commandId = rig.sent.at(-1 - Math.floor(luck * 4))?.commandId ?? 'none';
      await call('_pilothouse/commands/withdraw', { commandId });
      return;
    }
    case 'go back':
      // What runs has to end first.
      await call('session/cancel');
      await call('session/rollback', { overwrite: 'all' });
      return;
    case 'settle':
      await Promise.race([sleep(luck * 400), rig.client.exited]);
      return;
    default:
      await call(...controlOf(rig, name, luck));
  }
}

async function respond(rig: CrashRig, sessionId: string, how: 'answer' | 'refuse'): Promise<void> {
  const [gate] = await rig.gates(sessionId);
  if (gate === undefined) return;
  const answer = how === 'answer' ? answerTo(gate) : { gateId: gate.gateId, decline: true };
  await rig.call('_pilothouse/gates/respond', { sessionId, ...answer });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
