import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Deferred } from '../../base/deferred.ts';
import { DisposableStore } from '../../base/disposables.ts';
import type { Services } from '../commands/services.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { showGate } from './gate-prompts.ts';
import { blocksOf } from './references.ts';
import { type TurnOutcome, TurnStream } from './turn-stream.ts';

/**
 * Sends the request to the session as a prompt and tells its turn until it ends. Cancelling the request stops the
 * session. Rejects with a `CodedError` if the prompt could not be sent.
 */
export async function runTurn(
  { hub }: Services,
  session: LiveSession,
  request: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<TurnOutcome> {
  const blocks = await blocksOf(request);
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const turn = new TurnStream(text, {
    text: (markdown) => stream.markdown(markdown),
    progress: (line) => stream.progress(line),
    reference: (path, line) => stream.reference(fileReference(path, line)),
  });
  const ended = new Deferred<void>();
  const store = new DisposableStore();
  try {
    store.add(session.onDidChange((change) => turn.take(change) && ended.resolve()));
    store.add(
      hub.gates.onDidChange((change) => {
        if (change.kind === 'opened' && change.gate.sessionId === session.sessionId)
          showGate(stream, change.gate);
      }),
    );
    store.add(hub.onDidRemove((id) => id === session.sessionId && ended.resolve()));
    store.add(token.onCancellationRequested(() => void stop(session, ended)));
    if (session.isRunning)
      stream.progress(l10n.t('The session is busy: this prompt comes after the running turn.'));
    await session.send(blocks, text);
    await ended.promise;
  } finally {
    store.dispose();
  }
  return turn.outcome ?? { stopReason: 'cancelled', problem: null, hasChanges: false };
}

/** The turn's end comes from the session; if the stop can't even be sent there is nothing to wait for. */
async function stop(session: LiveSession, ended: Deferred<void>): Promise<void> {
  try {
    await session.stop();
  } catch (error) {
    ended.reject(error);
  }
}

function fileReference(path: string, line: number | null): vscode.Uri | vscode.Location {
  const uri = vscode.Uri.file(path);
  return line === null
    ? uri
    : new vscode.Location(uri, new vscode.Position(Math.max(0, line - 1), 0));
}
