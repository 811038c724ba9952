import type { Frame, Locator } from 'playwright-core';
import { shownText, until } from '../../vscode/driver/until.ts';
import type { VsCodeWindow } from '../../vscode/driver.ts';

/** The word in the chat's header for what its session does. */
export type Activity =
  | 'Ready'
  | 'Working'
  | 'Needs you'
  | 'Stopping'
  | 'Not running'
  | 'No session';

/** The Pilothouse chat of a window, by what a person sees of it. Waits for what it acts on. */
export class Chat {
  readonly #window: () => VsCodeWindow;

  constructor(window: () => VsCodeWindow) {
    this.#window = window;
  }

  /** Its document; a reload or a hidden view makes it useless, so it is asked for anew each time. */
  frame(): Promise<Frame> {
    return this.#window().webview({
      extensionId: 'pilothouse.pilothouse',
      containing: '.composer',
      milliseconds: 40_000,
    });
  }

  /** True while its document is on the screen. */
  async isVisible(): Promise<boolean> {
    const own = (frame: Frame) => frame.url().includes('extensionId=pilothouse.pilothouse&');
    for (const outer of this.#window().page.frames().filter(own)) {
      const element = await outer.frameElement().catch(() => undefined);
      if (await element?.isVisible()) return true;
    }
    return false;
  }

  /** Looks into the document until `read` finds something; a document that goes meanwhile is replaced. */
  async #look<T>(what: string, read: (frame: Frame) => Promise<T>, milliseconds = 30_000) {
    const look = async () => read(await this.frame()).catch(() => undefined);
    return until(what, look, { milliseconds, saw: () => this.text().catch(() => 'no chat') });
  }

  /** All text of the document, as it is laid out. */
  async text(): Promise<string> {
    return shownText((await this.frame()).locator('body'));
  }

  /** What the agent said, did and was answered, as far as it is on the screen. */
  replies(): Promise<string> {
    return this.#rows('.row:not(.row-user)');
  }

  /** What the person wrote, as far as it is on the screen. */
  prompts(): Promise<string> {
    return this.#rows('.row-user');
  }

  async #rows(selector: string): Promise<string> {
    return (await (await this.frame()).locator(selector).allInnerTexts()).join('\n');
  }

  /** Waits until a reply, tool card, answer or end of a turn on the screen holds the text. */
  async waitForReply(wanted: string | RegExp, milliseconds?: number): Promise<string> {
    const holds = (text: string) =>
      typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
    return this.#look(
      `the chat to reply ${wanted}`,
      async () => {
        const text = await this.replies();
        return holds(text) ? text : undefined;
      },
      milliseconds,
    );
  }

  /** Waits until the header says that the session does this. */
  async waitForActivity(word: Activity, milliseconds?: number): Promise<void> {
    await this.#look(
      `the chat to say ${word}`,
      async (frame) => (await shownText(frame.locator('.header'))).includes(word),
      milliseconds,
    );
  }

  /** Waits until it shows, in place of a conversation, what has this title. */
  async waitForEmpty(title: string): Promise<void> {
    await this.#look(`the chat to say ${title}`, async (frame) => {
      return (await frame.locator('.empty', { hasText: title }).count()) > 0;
    });
  }

  /** Which session it shows; '' for none. */
  async shown(): Promise<string> {
    const header = (await this.frame()).locator('.header');
    return (await header.getAttribute('data-session')) ?? '';
  }

  /** Waits until it shows another session than `before`, one that can be written to and is empty. */
  async waitForNew(before: string): Promise<void> {
    const question = (frame: Frame) => frame.locator('.empty', { hasText: 'What should be done?' });
    const ready = async (frame: Frame) =>
      (await this.shown()) !== before &&
      (await question(frame).count()) > 0 &&
      (await frame.locator('.activity-idle').count()) > 0;
    await this.#look('a new session', ready, 60_000);
  }

  async title(): Promise<string> {
    return shownText((await this.frame()).locator('.header .title'));
  }

  async waitForTitle(title: string): Promise<void> {
    await this.#look(`the chat of ${title}`, async () => (await this.title()) === title);
  }

  /** The box that messages are written in. */
  async composer(): Promise<Locator> {
    return (await this.frame()).getByRole('textbox', { name: 'Message' });
  }

  /** Writes into the composer by the keyboard, behind what is there. */
  async type(text: string): Promise<void> {
    const box = await this.composer();
    await box.click();
    await this.#window().page.keyboard.insertText(text);
  }

  /** Writes a message, one statement a line, sends it by Enter and waits until it was taken. */
  async send(...lines: string[]): Promise<void> {
    await this.type(lines.join('\n'));
    await this.#window().page.keyboard.press('Enter');
    await this.#look('the message to be taken', async () => {
      return (await (await this.composer()).inputValue()) === '';
    });
  }

  /** The messages that wait for the running turn, as they are shown. */
  async pendingTexts(): Promise<string[]> {
    return (await this.frame()).locator('.pending .waiting-text p').allInnerTexts();
  }

  /** Waits until a message for the running turn is shown with these words for how it stands. */
  async waitForPending(text: RegExp, state: string): Promise<void> {
    await this.#look(`the pending message ${text}`, async (frame) => {
      const rows = await frame.locator('.pending .waiting-row').allInnerTexts();
      return rows.some((row) => text.test(row) && row.includes(state));
    });
  }

  /** What is held for later turns, in order. */
  async queuedTexts(): Promise<string[]> {
    return (await this.frame()).locator('.next-row .waiting-text p').allInnerTexts();
  }

  async waitForQueued(text: RegExp): Promise<void> {
    await this.#look(`the queued message ${text}`, async () => {
      return (await this.queuedTexts()).some((one) => text.test(one));
    });
  }

  async queuedRow(text: string): Promise<Locator> {
    return (await this.frame()).locator('.next-row', { hasText: text });
  }

  /** Waits until its text holds this. */
  async waitForText(wanted: RegExp): Promise<void> {
    await this.#look(`the chat to say ${wanted}`, async () => wanted.test(await this.text()));
  }

  /** Clicks a suggestion of the list that `@` or `/` opened. */
  async suggest(name: string | RegExp): Promise<void> {
    const entry = (await this.frame()).locator('.suggestion', { hasText: name });
    await entry.first().click();
    await entry.first().waitFor({ state: 'detached' });
  }

  /** The titles of the open questions, in order. */
  async questions(): Promise<string[]> {
    return (await this.frame()).locator('.gates .gate-title').allInnerTexts();
  }

  async waitForQuestion(title: string): Promise<Locator> {
    const found = await this.#look(`the question ${title}`, async (frame) => {
      const gate = frame.locator('.gate', {
        has: frame.locator('.gate-title').getByText(title, { exact: true }),
      });
      return (await gate.count()) > 0 ? gate.first() : undefined;
    });
    return found;
  }

  /** Clicks a button of an open question. */
  async answer(title: string, button: string): Promise<void> {
    const gate = await this.waitForQuestion(title);
    await gate.locator('vscode-button').getByText(button, { exact: true }).click();
  }

  /** Clicks a button of the page by its name. */
  async press(name: string): Promise<void> {
    const frame = await this.frame();
    await frame.getByRole('button', { name, exact: true }).first().click();
  }

  /** Clicks an option that stands behind More Options. */
  async pressOption(name: string): Promise<void> {
    const frame = await this.frame();
    await frame.getByRole('button', { name: /^More Options/ }).click();
    await this.press(name);
    await frame.locator('.more-panel').press('Escape');
  }

  /** Chooses a value of one of the session's pickers (Mode, Model …) by its label. */
  async choose(option: string | RegExp, label: string | RegExp): Promise<void> {
    const select = (await this.frame()).getByRole('combobox', { name: option, exact: true });
    const value = await until(`${label} among the choices of ${option}`, async () => {
      const choices = await select
        .locator('option')
        .evaluateAll((all) =>
          all.map((one) => ({ text: one.textContent ?? '', value: one.getAttribute('value') })),
        );
      return choices.find(({ text }) =>
        typeof label === 'string' ? text === label : label.test(text),
      )?.value;
    });
    await select.selectOption(value);
    await until(`${option} to be ${label}`, async () => (await select.inputValue()) === value);
  }

  /** The tool card with that title. */
  async card(title: string): Promise<Locator> {
    return this.#look(`the tool card ${title}`, async (frame) => {
      const card = frame.locator('.tool', {
        has: frame.locator('.tool-title').getByText(title, { exact: true }),
      });
      return (await card.count()) > 0 ? card.last() : undefined;
    });
  }
}
