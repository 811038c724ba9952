import { Deferred } from '../../../base/deferred.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { GateAnswer } from '../gate-words.ts';
import type { ModelArrival, ModelError } from '../model.ts';
import type { SignInRequest } from '../tool.ts';
import type { AskGate } from '../turn/ask-gate.ts';
import { type ElsewhereAnswer, HOST } from './gates.ts';

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

/**
 * Waits, visibly and stoppably, until whoever a request needs is there. True if it is worth another try: they came, or a
 * person wants it tried again now.
 */
export async function askArrival(
  ask: AskGate,
  { source, message }: Pick<ModelError, 'source' | 'message'>,
  { waitsFor, arrived }: ModelArrival,
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const elsewhere = new Deferred<ElsewhereAnswer>();
  const answer = { kind: 'accepted', content: {} } as const;
  arrived(AbortSignal.any([signal, over.signal])).then(
    () => elsewhere.resolve({ answer, actor: HOST }),
    // Whatever else ends the wait answers the question by itself.
    () => undefined,
  );
  try {
    const request = { target: source, targetKind: 'model', message, waitsFor } as const;
    const given = await ask({ kind: 'auth', ...request }, signal, { elsewhere: elsewhere.promise });
    return given.kind === 'accepted' || given.kind === 'selected';
  } finally {
    over.abort();
  }
}
