import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import type { CommandTable } from '../commands/services.ts';
import { fork, truncate } from './branching.ts';
import type { RewindPorts } from './ports.ts';
import { rewind } from './restoring.ts';
import { namedMessage, pickCheckpoint, pickMessage } from './targets.ts';

/** Which session a command is about; undefined if the person gave up. */
export type ChooseSession = (argument: unknown) => Promise<string | undefined>;

const CALL = z.object({ sessionId: z.string(), toolCallId: z.string() });

/** Commands that move a conversation, branch it off, and put files back. */
export function rewindCommands(ports: RewindPorts, choose: ChooseSession): CommandTable {
  const about =
    (run: (sessionId: string, argument: unknown) => Promise<unknown>) =>
    async (argument?: unknown): Promise<unknown> => {
      const sessionId = await choose(argument);
      return sessionId === undefined ? undefined : run(sessionId, argument);
    };
  return {
    'pilothouse.rollBack': about(async (id, argument) => goBack(ports, id, argument, 'rollback')),
    'pilothouse.restoreFiles': about(async (id, argument) => goBack(ports, id, argument, 'files')),
    'pilothouse.redoRollback': about(async (sessionId) => {
      const done = await rewind(ports, { sessionId, choice: { what: 'redo' }, name: '' });
      if (done) ports.takeBack(sessionId);
    }),
    'pilothouse.forkSession': about(async (id, argument) => forkAt(ports, id, argument)),
    'pilothouse.removeMessages': about(async (id, argument) => removeFrom(ports, id, argument)),
    'pilothouse.internal.restoreCall': async (argument) => restoreCall(ports, argument),
  };
}

async function goBack(
  ports: RewindPorts,
  sessionId: string,
  argument: unknown,
  what: 'rollback' | 'files',
): Promise<void> {
  const session = await ports.open(sessionId);
  const named = namedMessage(session, argument);
  const placeHolder =
    what === 'rollback'
      ? l10n.t('Roll conversation and files back to which state?')
      : l10n.t('Put files back to which state?');
  const state =
    named === null
      ? await pickCheckpoint(ports, sessionId, { what, placeHolder })
      : { checkpointId: named.checkpointId, prompt: named.text };
  if (!state) return;
  const { checkpointId } = state;
  const choice = { what, ...(checkpointId === null ? {} : { checkpointId }) };
  const done = await rewind(ports, { sessionId, choice, name: state.prompt });
  if (done && what === 'rollback') ports.compose(sessionId, state.prompt);
}

async function forkAt(ports: RewindPorts, sessionId: string, argument: unknown): Promise<unknown> {
  const session = await ports.open(sessionId);
  const message =
    namedMessage(session, argument) ??
    (await pickMessage(
      session,
      l10n.t('Fork before which message?'),
      l10n.t('The whole conversation'),
    ));
  return message === undefined ? undefined : fork(ports, sessionId, message);
}

async function removeFrom(
  ports: RewindPorts,
  sessionId: string,
  argument: unknown,
): Promise<unknown> {
  const session = await ports.open(sessionId);
  const message =
    namedMessage(session, argument) ??
    (await pickMessage(session, l10n.t('Remove from which message on?'), null));
  return message ? truncate(ports, sessionId, message) : false;
}

async function restoreCall(ports: RewindPorts, argument: unknown): Promise<unknown> {
  const parsed = z.safeParse(CALL, argument);
  if (!parsed.success) return false;
  const { sessionId, toolCallId } = parsed.data;
  const session = await ports.open(sessionId);
  const name = session.conversation.tool(toolCallId)?.title ?? '';
  return rewind(ports, { sessionId, choice: { what: 'call', toolCallId }, name });
}
