import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Deferred } from '../../base/deferred.ts';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { ChatAttachment, ChatSendMode } from '../../protocol/chat.ts';
import { formatRange } from '../chat/mentions/line-range.ts';
import { promptBlocks } from '../chat/mentions/prompt-blocks.ts';
import { nameOfSession } from '../commands/picks/running-session.ts';
import type { Services } from '../commands/services.ts';
import { tellSent } from '../commands/tables/message-commands.ts';
import { sendMessage } from '../sessions/control/sending.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { settings } from '../settings/settings.ts';
import { fileOf, type SteerPlace, textAt } from './steer-place.ts';

/** The comment controller's id, for the `when` of its menus. */
const CONTROLLER = 'pilothouse.steering';
/** The thread's context value while its session runs, and while it does not. */
const RUNNING = 'running';
const IDLE = 'idle';

type Open = { readonly place: SteerPlace; readonly session: LiveSession };

/** Inline inputs beside lines of a text; what is written there goes to a session with the lines it is about. */
export class SteerThreads implements Disposable {
  readonly #services: Services;
  readonly #store = new DisposableStore();
  readonly #controller: vscode.CommentController;
  readonly #open = new Map<vscode.CommentThread, Open>();

  constructor(services: Services) {
    this.#services = services;
    this.#controller = this.#store.add(
      vscode.comments.createCommentController(CONTROLLER, l10n.t('Steer')),
    );
    this.#controller.options = {
      prompt: l10n.t('Steer the session here…'),
      placeHolder: l10n.t('What should be different here?'),
    };
    this.#store.add(
      services.hub.onDidChange(({ change }) => {
        if (change.kind !== 'chat') this.#refresh();
      }),
    );
    this.#store.add(vscode.workspace.onDidCloseTextDocument((document) => this.#closeOf(document)));
  }

  /** Opens an input at the place and puts the keyboard into it. */
  async show(place: SteerPlace, session: LiveSession): Promise<void> {
    const { document, first, last } = place;
    this.#closeOf(document);
    await bringTo(document, last - 1);
    const shown = inputShown();
    const end = document.lineAt(last - 1).range.end;
    const range = new vscode.Range(new vscode.Position(first - 1, 0), end);
    const thread = this.#controller.createCommentThread(document.uri, range, []);
    thread.canReply = true;
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.#open.set(thread, { place, session });
    this.#describe(thread, session);
    if (await shown) await focusInput();
  }

  /** The thread's menu: sends what was written. What was refused goes into the composer, with a sentence why. */
  async submit(reply: vscode.CommentReply, mode: ChatSendMode): Promise<void> {
    const open = this.#open.get(reply.thread);
    const text = reply.text.trim();
    if (!open || text === '') return;
    const { session, place } = open;
    const attachment = attachmentFor(place);
    const lines = textAt(place);
    this.close(reply.thread);
    try {
      const blocks = await promptBlocks(text, [attachment], [], async () => lines);
      tellSent(
        this.#services,
        session,
        await sendMessage(session, blocks, text, settings.sending(), mode),
      );
    } catch (error) {
      await this.#services.showSession(session.sessionId);
      this.#services.bridge.compose({ text, attachments: [attachment] }, true);
      throw new Error(l10n.t('{0} Your text is in the composer.', messageOf(error)), {
        cause: error,
      });
    }
  }

  close(thread: vscode.CommentThread): void {
    this.#open.delete(thread);
    thread.dispose();
  }

  #closeOf(document: vscode.TextDocument): void {
    for (const [thread, { place }] of this.#open)
      if (place.document === document) this.close(thread);
  }

  #refresh(): void {
    for (const [thread, { session }] of this.#open) this.#describe(thread, session);
  }

  #describe(thread: vscode.CommentThread, session: LiveSession): void {
    const name = nameOfSession(this.#services, session.sessionId);
    thread.contextValue = session.isRunning ? RUNNING : IDLE;
    thread.label = session.isRunning
      ? l10n.t('Steer “{0}”', name)
      : l10n.t('“{0}” is not running: this is sent as a prompt', name);
  }

  dispose(): void {
    for (const thread of this.#open.keys()) thread.dispose();
    this.#open.clear();
    this.#store.dispose();
  }
}

function attachmentFor({ document, first, last }: SteerPlace): ChatAttachment {
  const uri = fileOf(document);
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  return { name, uri: uri.toString(), kind: 'selection', range: formatRange({ first, last }) };
}

/** How long the editor may take to show a thread, in milliseconds. */
const SHOWN_WITHIN_MS = 3_000;

/** Shows the document with the cursor in the thread's last line, which is how the thread is found there. */
async function bringTo(document: vscode.TextDocument, line: number): Promise<void> {
  const shown = vscode.window.activeTextEditor;
  const editor =
    shown?.document === document ? shown : await vscode.window.showTextDocument(document);
  const start = new vscode.Position(line, 0);
  if (editor.selection.end.line !== line) editor.selection = new vscode.Selection(start, start);
  editor.revealRange(
    new vscode.Range(start, start),
    vscode.TextEditorRevealType.InCenterIfOutsideViewport,
  );
}

/** Resolves when the editor has made the next comment's input, which is a document of its own; false: it has not. */
async function inputShown(): Promise<boolean> {
  const opened = new Deferred<boolean>();
  const subscription = vscode.workspace.onDidOpenTextDocument(({ uri }) => {
    if (uri.scheme === 'comment') opened.resolve(true);
  });
  const timer = setTimeout(() => opened.resolve(false), SHOWN_WITHIN_MS);
  try {
    return await opened.promise;
  } finally {
    clearTimeout(timer);
    subscription.dispose();
  }
}

/** The editor opens a thread without the keyboard in it: it is put there through the cursor's line. */
async function focusInput(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.focusCommentOnCurrentLine');
  await vscode.commands.executeCommand('widgetNavigation.focusNext');
}
