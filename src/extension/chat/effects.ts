import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { tellElsewhere } from '../hosts/tell-elsewhere.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { settings } from '../settings/settings.ts';
import type { ChatEffects } from './controller.ts';
import { parseRange } from './mentions/line-range.ts';
import { attachmentOf, type Mentions } from './mentions/mentions.ts';
import { promptBlocks } from './mentions/prompt-blocks.ts';
import { wholeOutput } from './model/tool-state.ts';
import type { TextDocuments } from './text-documents.ts';

/** What the effects are built on. */
export type EffectPorts = {
  readonly mentions: Mentions;
  readonly documents: TextDocuments;
  /** The name of the host of a session whose files are on another machine; null for every other session. */
  readonly elsewhere: Elsewhere;
  readonly startSession: () => Promise<LiveSession | null>;
};

type Elsewhere = (sessionId: string) => string | null;

type CommandName = Parameters<ChatEffects['command']>[0];

const COMMANDS: Readonly<Record<CommandName, string>> = {
  new_session: 'pilothouse.newSession',
  restart: 'pilothouse.restartAgent',
  show_log: 'pilothouse.showLog',
  show_changes: 'pilothouse.showChanges',
  show_transcript: 'pilothouse.openTranscript',
  manage_trust: 'workbench.trust.manage',
  open_folder: 'workbench.action.files.openFolder',
  redo: 'pilothouse.redoRollback',
  show_receipts: 'pilothouse.showReceipts',
  show_staged: 'pilothouse.reviewStaged',
  keep_staged: 'pilothouse.keepAllStaged',
  discard_staged: 'pilothouse.discardAllStaged',
  toggle_staged: 'pilothouse.toggleStagedMode',
  continue: 'pilothouse.continueTurn',
  compact: 'pilothouse.compact',
  reopen: 'pilothouse.reopenSession',
  open_data_folder: 'pilothouse.openDataFolder',
  take_control: 'pilothouse.takeControl',
};

const MESSAGE_COMMANDS: Readonly<Record<Parameters<ChatEffects['messageAction']>[1], string>> = {
  rollback: 'pilothouse.rollBack',
  restore: 'pilothouse.restoreFiles',
  fork: 'pilothouse.forkSession',
  truncate: 'pilothouse.removeMessages',
};

/** Carries out in the editor what the chat asks for. */
export function chatEffects(ports: EffectPorts): ChatEffects {
  const { mentions, documents, elsewhere, startSession } = ports;
  return {
    startSession,
    toBlocks: async (text, attachments, images) =>
      promptBlocks(text, attachments, images, async (one) => mentions.read(one)),
    complete: async (query) => mentions.complete(query),
    resolveUris: async (uris) =>
      Promise.all(uris.slice(0, 50).map(async (uri) => attachmentOf(vscode.Uri.parse(uri)))),
    openLocation: async (path, line, session) => {
      if (saysElsewhere(elsewhere, session, path)) return;
      await openAt(vscode.Uri.file(path), line, line);
    },
    openAttachment: async (uri, range) => {
      const lines = range === undefined ? null : parseRange(range);
      await openAt(vscode.Uri.parse(uri), lines?.first, lines?.last);
    },
    openDiff: async (session, toolCallId, path) =>
      openDiff({ documents, elsewhere }, session, toolCallId, path),
    openOutput: async (session, toolCallId) => openOutput(documents, session, toolCallId),
    openTranscript: async (id, title) => {
      await vscode.commands.executeCommand('pilothouse.internal.transcript.show', { id, title });
    },
    openLink: async (href, session) => openLink(href, session, elsewhere),
    setFocused,
    copy: async (text) => vscode.env.clipboard.writeText(text),
    setKey: async (source) => {
      const argument = source === null ? undefined : { source };
      const stored = await vscode.commands.executeCommand<unknown>(
        'pilothouse.setApiKey',
        argument,
      );
      return stored === true;
    },
    command: async (name, sessionId) => {
      await vscode.commands.executeCommand(
        COMMANDS[name],
        ...(sessionId === null || !COMMANDS[name].startsWith('pilothouse.') ? [] : [{ sessionId }]),
      );
    },
    sendSettings: () => settings.sending(),
    inform: (message) => void vscode.window.showInformationMessage(message),
    messageAction: async (sessionId, action, messageId) => {
      await vscode.commands.executeCommand(MESSAGE_COMMANDS[action], { sessionId, messageId });
    },
    restoreCall: async (sessionId, toolCallId) => {
      const call = { sessionId, toolCallId };
      await vscode.commands.executeCommand('pilothouse.internal.restoreCall', call);
    },
    complain: (message) => void vscode.window.showErrorMessage(message),
  };
}

/** Tells keybindings whether the chat has the keyboard; `focusedView` says nothing about a webview's inside. */
export function setFocused(focused: boolean): void {
  void vscode.commands.executeCommand('setContext', 'pilothouse.chatFocus', focused);
}

async function openAt(uri: vscode.Uri, first?: number, last?: number): Promise<void> {
  const selection =
    first === undefined
      ? {}
      : { selection: new vscode.Range(first - 1, 0, (last ?? first) - 1, Number.MAX_SAFE_INTEGER) };
  const stat = await vscode.workspace.fs.stat(uri).then(
    (found) => found,
    () => null,
  );
  if (stat && (stat.type & vscode.FileType.Directory) !== 0) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
    return;
  }
  await vscode.commands.executeCommand('vscode.open', uri, selection);
}

/** True if the path is another machine's: the file of that name here is another one, so none is opened. */
function saysElsewhere(elsewhere: Elsewhere, session: LiveSession | null, path: string): boolean {
  const name = session && elsewhere(session.sessionId);
  if (!name) return false;
  tellElsewhere(path, name);
  return true;
}

async function openDiff(
  { documents, elsewhere }: Pick<EffectPorts, 'documents' | 'elsewhere'>,
  session: LiveSession,
  toolCallId: string,
  path: string,
): Promise<void> {
  const ofDelegate = session.delegates.call(toolCallId);
  const sessionId = ofDelegate?.rows.loopId ?? session.sessionId;
  const call = { sessionId, toolCallId, path };
  if ((await vscode.commands.executeCommand('pilothouse.internal.showCallDiff', call)) === true)
    return;
  // A call that waits for approval is not in the history with its outcome: its card knows what it would do.
  const tool = ofDelegate?.tool ?? session.conversation.tool(toolCallId);
  const content = tool?.content ?? [];
  const diff = content.find((part) => part.type === 'diff' && part.path === path);
  if (diff?.type !== 'diff') {
    if (saysElsewhere(elsewhere, session, path)) return;
    await openAt(vscode.Uri.file(path));
    return;
  }
  const name = path.slice(path.lastIndexOf('/') + 1);
  await vscode.commands.executeCommand(
    'vscode.diff',
    documents.add(name, diff.oldText ?? ''),
    documents.add(name, diff.newText),
    l10n.t('{0} (this step)', name),
  );
}

async function openOutput(
  documents: TextDocuments,
  session: LiveSession,
  toolCallId: string,
): Promise<void> {
  const ofDelegate = session.delegates.call(toolCallId);
  const tool = ofDelegate?.tool ?? session.conversation.tool(toolCallId);
  if (!tool) return;
  const live = (ofDelegate?.rows ?? session.conversation).liveOutput(toolCallId);
  const done = wholeOutput(tool);
  const text = live.length > done.length ? live : done;
  const uri = documents.add(`${tool.name ?? 'output'}.log`, text);
  await vscode.window.showTextDocument(uri, { preview: true });
}

/** Web and mail links go to the editor's opener, which asks; paths open as files of the session's folder. */
async function openLink(
  href: string,
  session: LiveSession | null,
  elsewhere: Elsewhere,
): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  const match = /^(?:file:\/\/)?([^#]+)(?:#L?(\d+))?$/.exec(href);
  const path = match?.[1];
  if (path === undefined || /^[a-z][a-z0-9+.-]+:/i.test(path)) return;
  if (saysElsewhere(elsewhere, session, path)) return;
  const decoded = href.startsWith('file:') ? vscode.Uri.parse(href).fsPath : path;
  const base = vscode.Uri.file(session?.cwd ?? '/');
  const uri = decoded.startsWith('/')
    ? vscode.Uri.file(decoded)
    : vscode.Uri.joinPath(base, decoded);
  const line = match?.[2];
  await openAt(uri, line === undefined ? undefined : Number(line));
}
