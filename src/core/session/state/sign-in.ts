import type { GateAnswer } from '../events.ts';
import type { SignInRequest } from '../tool.ts';
import type { TurnId } from '../words.ts';
import type { Gates } from './gates.ts';

/** Asks for a sign-in that happens elsewhere; see `AskSignIn`. */
export async function askSignIn(
  gates: Gates,
  turnId: TurnId,
  request: SignInRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const { target, message, url } = request;
  const arrived = request.arrived.then(
    (isDone): GateAnswer =>
      isDone ? { kind: 'accepted', content: {} } : { kind: 'declined', reason: 'login_failed' },
  );
  const answer = await gates.ask(
    turnId,
    { kind: 'auth', target, targetKind: 'mcp', message, url },
    signal,
    arrived,
  );
  return answer.kind === 'accepted' || answer.kind === 'selected';
}
