import type { Actor } from '../../../protocol/controls.ts';
import type { GateAnswer } from '../gate-words.ts';
import type { SignInRequest } from '../tool.ts';
import type { AskGate } from '../turn/ask-gate.ts';
import { HOST } from './gates.ts';

/** Asks for a sign-in that happens elsewhere; see `AskSignIn`. */
export async function askSignIn(
  ask: AskGate,
  request: SignInRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const { target, message, url } = request;
  const arrived = request.arrived.then((isDone): { answer: GateAnswer; actor: Actor } => ({
    answer: isDone
      ? { kind: 'accepted', content: {} }
      : { kind: 'declined', reason: 'login_failed' },
    actor: HOST,
  }));
  const answer = await ask({ kind: 'auth', target, targetKind: 'mcp', message, url }, signal, {
    elsewhere: arrived,
  });
  return answer.kind === 'accepted' || answer.kind === 'selected';
}
