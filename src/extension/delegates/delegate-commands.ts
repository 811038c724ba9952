import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { CommandTable } from '../commands/services.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { delegateWord } from '../sessions/tree/delegate-items.ts';
import type { Delegate } from './delegate-list.ts';

/** What a command is about: a delegate of an open session, or the session itself. */
export type DelegateTarget = { readonly sessionId?: string; readonly loopId?: string };

/** What the commands about delegates need from the rest of the extension. */
export type DelegateCommandPorts = {
  readonly targetOf: (argument: unknown) => DelegateTarget;
  /** The session in the chat; null for none. */
  readonly shown: () => string | null;
  readonly open: (sessionId: string) => Promise<LiveSession>;
  /** Shows a session in the chat. */
  readonly show: (sessionId: string) => Promise<void>;
  /** Scrolls the chat to a row of the session it shows. */
  readonly reveal: (rowId: string) => void;
  readonly openTranscript: (loopId: string, name: string) => Promise<void>;
  readonly focusComposer: () => void;
};

/** How many older pages are read to find the call that began a delegate. */
const MOST_PAGES = 20;

/** Commands about delegates: from their row in the sessions view, or from the palette for the session in the chat. */
export function delegateCommands(ports: DelegateCommandPorts): CommandTable {
  const about =
    (
      run: (session: LiveSession, delegate: Delegate) => Promise<unknown>,
      wanted?: (delegate: Delegate) => boolean,
    ) =>
    async (argument?: unknown): Promise<unknown> => {
      const found = await chosen(ports, argument, wanted);
      return found ? run(found.session, found.delegate) : undefined;
    };
  return {
    'pilothouse.openDelegate': about((session, delegate) => openDelegate(ports, session, delegate)),
    'pilothouse.messageDelegate': about(writeTo),
    'pilothouse.stopDelegate': about(
      (session, delegate) => session.delegates.stop(delegate.loopId),
      isAtWork,
    ),
    'pilothouse.openDelegateTranscript': about((_session, { loopId, name }) =>
      ports.openTranscript(loopId, name),
    ),
    'pilothouse.talkToDelegate': about(
      async (session, delegate) => {
        await session.delegates.activate(delegate.loopId);
        await openDelegate(ports, session, delegate);
        ports.focusComposer();
      },
      ({ isActive }) => !isActive,
    ),
    'pilothouse.talkToMain': async (argument) => {
      const sessionId = ports.targetOf(argument).sessionId ?? ports.shown();
      if (sessionId === null) return;
      const session = await ports.open(sessionId);
      await session.delegates.activate(sessionId);
    },
  };
}

function isAtWork({ state }: Delegate): boolean {
  return state === 'running' || state === 'waiting';
}

/** The delegate that is named, else the only one of the session that fits; several are asked about. */
async function chosen(
  ports: DelegateCommandPorts,
  argument: unknown,
  wanted: (delegate: Delegate) => boolean = () => true,
): Promise<{ readonly session: LiveSession; readonly delegate: Delegate } | null> {
  const named = ports.targetOf(argument);
  const sessionId = named.sessionId ?? ports.shown();
  if (sessionId === null) return noneThere();
  const session = await ports.open(sessionId);
  const { list } = session.delegates;
  if (named.loopId !== undefined) {
    const delegate = list.get(named.loopId);
    return delegate ? { session, delegate } : noneThere();
  }
  const delegate = await pick(list.all().filter(wanted));
  return delegate ? { session, delegate } : null;
}

function noneThere(): null {
  void vscode.window.showInformationMessage(l10n.t('There is no such delegate here.'));
  return null;
}

async function pick(delegates: readonly Delegate[]): Promise<Delegate | null> {
  if (delegates.length === 0) return noneThere();
  const [only] = delegates;
  if (only && delegates.length === 1) return only;
  const items = delegates.map((delegate) => ({
    label: delegate.name,
    description: delegateWord(delegate.state),
    detail: delegate.prompt.split('\n', 1)[0] ?? '',
    delegate,
  }));
  const placeHolder = l10n.t('Which delegate?');
  const options = { placeHolder, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.delegate ?? null;
}

/** Scrolls the chat to the call that began it; one that lies deeper is inside the card of the delegate above it. */
async function openDelegate(
  ports: DelegateCommandPorts,
  session: LiveSession,
  { loopId }: Delegate,
): Promise<void> {
  await ports.show(session.sessionId);
  const callId = session.delegates.list.path(loopId)[0]?.toolCallId ?? null;
  if (callId === null) return;
  const isLoaded = (): boolean => session.conversation.tool(callId) !== null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    if (isLoaded() || !session.conversation.hasBefore) break;
    await session.loadBefore();
  }
  if (isLoaded()) ports.reveal(callId);
}

async function writeTo(session: LiveSession, { loopId, name }: Delegate): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: l10n.t('Message to {0}', name),
    prompt: l10n.t('It reads the message at its next step. If it is done, this is its next task.'),
    ignoreFocusOut: true,
  });
  if (text === undefined || text.trim() === '') return;
  await session.delegates.message(loopId, text.trim());
}
