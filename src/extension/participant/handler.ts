import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { messageOf } from '../../base/errors.ts';
import { pickFolder } from '../commands/picks/pick-folder.ts';
import type { Services } from '../commands/services.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { sessionName } from '../sessions/tree/tree-model.ts';
import { unknownCommand } from './aim.ts';
import { ChatSessions, type OwnTurn } from './chat-sessions.ts';
import { control } from './control.ts';
import { PARTICIPANT } from './participant-id.ts';
import { runTurn } from './run-turn.ts';
import { tellReceipts, tellWaiting } from './session-answers.ts';

const METADATA = z.looseObject({ sessionId: z.string() });
const MAX_LISTED = 10;

/** What answers `@pilothouse`: a prompt becomes a turn of the chat's session, a command is done or refused in words. */
export function participantHandler(services: Services): vscode.ChatRequestHandler {
  const chats = new ChatSessions();
  return async (request, context, stream, token) => {
    const turns = ownTurns(context);
    try {
      return await answer({ ...services, chats }, { request, turns, stream, token });
    } catch (error) {
      services.log.error(`@pilothouse: ${messageOf(error)}`);
      return withSession(chats.of(turns), { errorDetails: { message: messageOf(error) } });
    }
  };
}

type Call = {
  readonly request: vscode.ChatRequest;
  readonly turns: readonly OwnTurn[];
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
};

type Parts = Services & { readonly chats: ChatSessions };

async function answer(services: Parts, call: Call): Promise<vscode.ChatResult> {
  const known = services.chats.of(call.turns);
  switch (call.request.command) {
    case 'sessions':
      return listSessions(services, call, known);
    case 'stop':
    case 'steer':
    case 'interrupt':
    case 'note':
      return withSession(known, await control(services, call, known, call.request.command));
    case 'queue':
      return withSession(known, await control(services, call, known, 'next'));
    case 'pending':
      await tellWaiting(services, call.stream, known);
      return withSession(known, {});
    case 'receipts':
      await tellReceipts(services, call.stream, known);
      return withSession(known, {});
    case 'new':
      return prompt(services, call, null);
    default: {
      const unknown = unknownCommand(call.request.prompt, knownCommands(services, known));
      if (unknown === null) return prompt(services, call, known);
      tellUnknown(call.stream, unknown);
      return withSession(known, {});
    }
  }
}

async function prompt(
  services: Parts,
  call: Call,
  known: string | null,
): Promise<vscode.ChatResult> {
  const { request, turns, stream, token } = call;
  const session = known === null ? await newSession(services) : await services.hub.open(known);
  if (!session) return { errorDetails: { message: l10n.t('No session was started.') } };
  const { sessionId } = session;
  services.chats.begin(turns, request.prompt, sessionId);
  const open = { command: 'pilothouse.openSession', title: l10n.t('Open in Chat Panel') };
  const target = [{ sessionId }];
  if (request.prompt.trim() === '') {
    stream.markdown(l10n.t('A new session is ready in {0}. What should be done?', session.cwd));
    stream.button({ ...open, arguments: target });
    return withSession(sessionId, {});
  }
  const outcome = await runTurn(services, session, request, stream, token);
  if (outcome.stopReason === 'cancelled') stream.markdown(`\n\n*${l10n.t('Stopped.')}*`);
  stream.button({ ...open, arguments: target });
  if (outcome.hasChanges)
    stream.button({
      command: 'pilothouse.showChanges',
      title: l10n.t('Show Changes'),
      arguments: target,
    });
  return withSession(
    sessionId,
    outcome.problem === null ? {} : { errorDetails: { message: outcome.problem } },
  );
}

/** The commands of the chat's session; of a chat without one, those of every session that is open here. */
function knownCommands({ hub, tree }: Services, known: string | null): string[] {
  const ids = known === null ? tree.views().map(({ row }) => row.sessionId) : [known];
  return ids.flatMap((id) => hub.get(id)?.facts.commands.map(({ name }) => name) ?? []);
}

function tellUnknown(stream: vscode.ChatResponseStream, name: string): void {
  stream.markdown(l10n.t('There is no command {0}, so nothing was sent.', `\`/${name}\``));
  const hint = l10n.t(
    'Type / to see the commands. To send the text as it is, put a word in front of it.',
  );
  stream.markdown(`\n\n${hint}`);
}

async function newSession({ hub }: Services): Promise<LiveSession | null> {
  const folder = await pickFolder();
  return folder && hub.create(folder.path);
}

async function listSessions(
  { hub }: Services,
  { stream }: Call,
  known: string | null,
): Promise<vscode.ChatResult> {
  await hub.directory.refresh();
  const rows = hub.directory.rows().slice(0, MAX_LISTED);
  stream.markdown(
    rows.length === 0 ? l10n.t('There are no sessions yet.') : l10n.t('The newest sessions:'),
  );
  for (const { sessionId, title } of rows)
    stream.button({
      command: 'pilothouse.openSession',
      title: sessionName(title),
      arguments: [{ sessionId }],
    });
  return withSession(known, {});
}

/** The turns of this chat with our participant. */
function ownTurns(context: vscode.ChatContext): OwnTurn[] {
  const turns: OwnTurn[] = [];
  for (const [index, turn] of context.history.entries()) {
    if (!(turn instanceof vscode.ChatRequestTurn) || turn.participant !== PARTICIPANT) continue;
    const next = context.history[index + 1];
    const metadata = next instanceof vscode.ChatResponseTurn ? next.result.metadata : undefined;
    const parsed = z.safeParse(METADATA, metadata);
    turns.push({ prompt: turn.prompt, sessionId: parsed.success ? parsed.data.sessionId : null });
  }
  return turns;
}

function withSession(sessionId: string | null, result: vscode.ChatResult): vscode.ChatResult {
  return sessionId === null ? result : { ...result, metadata: { sessionId } };
}
