import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { type Pilothouse, usePilothouse } from './support/pilothouse.ts';

/** The editor's own chat, as a person uses it. */
function editorChat(pilothouse: Pilothouse) {
  const view = () => pilothouse.window.page.locator('.interactive-session');
  const text = async () =>
    (await view().locator('.interactive-response').allInnerTexts())
      .join('\n')
      .replaceAll('\u00a0', ' ');

  async function openChat(): Promise<void> {
    // A view of ours first: then the participant is there before it is spoken to.
    await pilothouse.sessions();
    await pilothouse.window.runCommand('Chat: Open Chat');
    await until('the model that stands in', async () =>
      /Pilothouse/.test((await view().locator('.chat-input-toolbars').allInnerTexts()).join()),
    );
  }

  async function ask(...lines: string[]): Promise<void> {
    const { keyboard } = pilothouse.window.page;
    await view().locator('.interactive-input-part .monaco-editor').first().click();
    await pilothouse.window.pressKeys('Control+A', 'Delete');
    for (const [index, line] of lines.entries()) {
      if (index > 0) await pilothouse.window.pressKeys('Shift+Enter');
      await keyboard.insertText(line);
    }
    // The chat marks the participant once it has understood the text; before that Enter goes to the default agent.
    await view()
      .locator('.interactive-input-part .view-line span[class*="ced-"]')
      .first()
      .waitFor();
    // The list of completions that the text opened would take the Enter.
    await pilothouse.window.pressKeys('Escape', 'Enter');
  }

  async function waitForText(wanted: RegExp): Promise<void> {
    await until(`the chat to say ${wanted}`, async () => wanted.test(await text()), {
      milliseconds: 40_000,
      saw: text,
    });
  }

  return { view, openChat, ask, waitForText };
}

describe('@pilothouse in the editor’s own chat', () => {
  const { pilothouse, file } = usePilothouse();
  const { view, openChat, ask, waitForText } = editorChat(pilothouse);

  afterEach(() => pilothouse.calm());

  it('runs turns of one session without a sign-in, asks, and is stopped by the chat’s own button', async () => {
    await openChat();
    await ask('@pilothouse write note.txt: written here', 'finish with the first turn is over');
    await waitForText(/waits for your answer: *Write note\.txt/);
    await view().locator('a.monaco-button', { hasText: 'Approve' }).first().click();
    await waitForText(/the first turn is over/);
    expect(await readFile(file('note.txt'), 'utf8')).toBe('written here');

    await ask('@pilothouse count slowly from 1 to 2000');
    await waitForText(/\b5\b/);
    await view().locator('.chat-execute-toolbar a[aria-label^="Cancel"]').first().click();
    await pilothouse.window.statusBar.waitUntilGone(/running|Stopping/);

    await ask('@pilothouse say still the same session');
    await waitForText(/still the same session/);
    const sessions = await pilothouse.sessions();
    const rows = (await sessions.rows()).filter(({ label }) => /write note/.test(label));
    expect(rows).toHaveLength(1);
    expect((await sessions.rows()).some(({ label }) => /count|still/.test(label))).toBe(false);
  });
});

describe('@pilothouse in a chat that has no session of its own', () => {
  const { pilothouse } = usePilothouse();
  const { openChat, ask, waitForText } = editorChat(pilothouse);

  afterEach(() => pilothouse.calm());

  it('steers, queues and stops the session that runs, and answers with the receipts', async () => {
    await pilothouse.newCodeSession();
    await pilothouse.chat.send(
      'run until [ -e go-chat ]; do sleep 0.05; done',
      'finish with the old answer',
    );
    await pilothouse.chat.waitForActivity('Working');
    await openChat();
    await ask('@pilothouse /steer finish with steered by the chat');
    await waitForText(
      /Steer sent[\s\S]*Outcome: accepted[\s\S]*Status: accepted[\s\S]*Control: \S+/,
    );
    await ask('@pilothouse /queue finish with the queued turn');
    await waitForText(/Queued for the next turn[\s\S]*Outcome: /);
    await ask('@pilothouse /note only for people');
    await waitForText(/Note added/);
    await ask('@pilothouse /pending');
    await waitForText(
      /Session: [\s\S]*Steer: finish with steered[\s\S]*Note: only for people[\s\S]*Queued for a later turn: finish with the queued turn/,
    );
    await ask('@pilothouse /steeer finish with a slip');
    await waitForText(/There is no command \/steeer, so nothing was sent/);
    await ask('@pilothouse /stop');
    await waitForText(/Stop was sent[\s\S]*Outcome: cancelled/);
    await pilothouse.window.statusBar.waitUntilGone(/running|Stopping/);
    await ask('@pilothouse /stop');
    await waitForText(/Nothing was running/);
    await ask('@pilothouse /pending');
    await waitForText(/Paused because you pressed Stop[\s\S]*/);
    await pilothouse.window.runCommand('Pilothouse: Focus Chat');
    await pilothouse.chat.waitForText(
      /not delivered: the turn ended first[\s\S]*steered by the chat/,
    );
    await pilothouse.chat.waitForText(/Paused because you pressed Stop[\s\S]*the queued turn/);
  });
});
