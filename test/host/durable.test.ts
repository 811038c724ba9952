import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { isAlive } from '../vscode/serve/processes.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('the session host is killed in the middle of a turn', () => {
  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  afterEach(() => pilothouse.calm());

  /** SIGKILL, and another process is there; its id is not the old one's. */
  async function kill(): Promise<void> {
    const old = pilothouse.hostPid();
    pilothouse.killHost();
    await until(
      'another session host',
      () => !isAlive(old) && pilothouse.hosts().some(({ pid }) => pid !== old),
      { milliseconds: 30_000, saw: () => pilothouse.hosts() },
    );
  }

  const textOf = (name: string) => readFile(file(name), 'utf8');

  it('the view says what happened, keeps what was said, and goes on by one click', async () => {
    await pilothouse.newCodeSession();
    await chat.send(
      'run echo once >> before.txt',
      'count slowly from 1 to 400',
      'run echo once >> after.txt',
      'finish with it went on to the end',
    );
    await chat.waitForReply(/\b9\b/);
    await kill();
    const said = await chat.waitForReply(/\b1\b[\s\S]*the session host ended during this turn/);
    expect(said).toContain('What was said and done until then is kept');
    expect(said).not.toContain('whether');
    expect(existsSync(file('after.txt'))).toBe(false);
    const row = await (await pilothouse.sessions()).waitFor(/before\.txt/);
    expect(row.description).toContain('interrupted');
    expect(row.actions).toContain('Continue Interrupted Turn');
    await window().screenshot('interrupted');
    await chat.press('Continue');
    await chat.waitForReply('it went on to the end');
    expect(await chat.prompts()).toContain('continue');
    expect(await textOf('before.txt')).toBe('once\n');
    expect(await textOf('after.txt')).toBe('once\n');
  });

  it('a step that ran says that its outcome is not known, and is not run again', async () => {
    await pilothouse.newCodeSession();
    const step = 'echo once >> unknown.txt; sleep 4321';
    await chat.send(`run ${step}`, 'finish with after the step');
    await until('the step to have begun', () => existsSync(file('unknown.txt')));
    await kill();
    await chat.waitForReply(/Outcome unknown[\s\S]*Check before doing it again/);
    await chat.waitForReply(/whether 1 step took effect/);
    await window().runCommand('Pilothouse: Continue Interrupted Turn');
    await chat.waitForReply('after the step');
    expect(await textOf('unknown.txt')).toBe('once\n');
  });

  it('the approval that it was parked at is still there, and its file is written once', async () => {
    await pilothouse.newSession();
    const step = 'echo once >> parked.txt';
    await chat.send(`run ${step}`, 'finish with it was allowed');
    await chat.waitForQuestion(step);
    await pilothouse.waitForWaiting(1);
    await kill();
    await chat.waitForQuestion(step);
    await chat.waitForActivity('Needs you');
    await pilothouse.waitForWaiting(1);
    const row = await (await pilothouse.sessions()).waitFor(
      /parked\.txt/,
      ({ level }) => level > 1,
    );
    expect(row.actions).toContain('Stop');
    await window().screenshot('parked');
    expect(existsSync(file('parked.txt'))).toBe(false);
    await chat.answer(step, 'Allow once');
    await chat.waitForReply('it was allowed');
    await chat.waitForActivity('Ready');
    expect(await textOf('parked.txt')).toBe('once\n');
    expect(await chat.questions()).toEqual([]);
    await pilothouse.waitForWaiting(0);
  });

  it('what it was parked at can be stopped instead, and then nothing is written', async () => {
    await pilothouse.newSession();
    await chat.send('write stopped.txt: never');
    await chat.waitForQuestion('Write stopped.txt');
    await kill();
    await chat.waitForQuestion('Write stopped.txt');
    await chat.press('Stop');
    await chat.waitForActivity('Ready');
    await chat.waitForReply('Stopped by you');
    expect(existsSync(file('stopped.txt'))).toBe(false);
  });

  it('what waited comes back as not sent, and is sent only by a click', async () => {
    await pilothouse.newCodeSession();
    await chat.send('run until [ -e never-there ]; do sleep 0.05; done', 'say the end');
    await chat.waitForActivity('Working');
    await chat.type('say I was queued');
    await window().pressKeys('Alt+Enter');
    await chat.waitForQueued(/I was queued/);
    await chat.send('say I was to steer');
    await chat.waitForPending(/I was to steer/, 'after this step');
    await kill();
    await chat.waitForText(/The agent restarted before these were sent/);
    await chat.waitForQueued(/I was queued/);
    await chat.waitForQueued(/I was to steer/);
    expect(await chat.pendingTexts()).toEqual([]);
    await window().screenshot('held');
    await (await chat.queuedRow('I was to steer')).getByRole('button', { name: 'Remove' }).click();
    await until('one to be left', async () => (await chat.queuedTexts()).length === 1);
    expect(await chat.prompts()).not.toContain('I was queued');
    await (await chat.queuedRow('I was queued'))
      .getByRole('button', { name: 'Send', exact: true })
      .click();
    await chat.waitForReply('I was queued');
    await until('nothing to be held', async () => (await chat.queuedTexts()).length === 0);
  });

  it('text that stands in the composer stays there', async () => {
    await pilothouse.newSession();
    await chat.send('say I am here');
    await chat.waitForReply('I am here');
    await chat.type('half a thought');
    await kill();
    await chat.waitForActivity('Ready');
    expect(await (await chat.composer()).inputValue()).toBe('half a thought');
    await chat.type(' and more');
    expect(await (await chat.composer()).inputValue()).toBe('half a thought and more');
    await (await chat.composer()).fill('');
  });
});

describe('what is kept of a session', () => {
  const { pilothouse } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;
  const quick = () => window().quickInput;

  afterEach(() => pilothouse.calm());

  it('is found by what was said in it, and opened there', async () => {
    await pilothouse.newSession();
    await chat.send('say good morning');
    await chat.waitForReply(/good morning[\s\S]*Finished/);
    await chat.send('say the needle is in here');
    await chat.waitForReply(/the needle is in here[\s\S]*Finished/);
    for (const number of [1, 2, 3]) {
      await chat.send(`count slowly from ${number}0 to ${number}8`);
      await chat.waitForReply(new RegExp(`${number}8[\\s\\S]*Finished`));
    }
    await pilothouse.newSession();
    await chat.send('say something else');
    await chat.waitForReply('something else');
    await window().runCommand('Pilothouse: Search Sessions…');
    await until('the search', async () => (await quick().waitFor()).title === 'Search Sessions');
    await quick().type('needle');
    const look = async () => {
      const entries = await quick().entries();
      return entries.find(({ detail }) => /Agent: .*needle/.test(detail));
    };
    const saw = async () => ({ open: await quick().isOpen(), entries: await quick().entries() });
    const found = await until('a place in the first session', look, { saw });
    expect(found.label).toContain('say good morning');
    await window().screenshot('search');
    await quick().type('nothing of the kind');
    await until('no place', async () =>
      (await quick().entries())[0]?.label.includes('Nothing found'),
    );
    await quick().type('needle');
    await until('the place again', look, { saw });
    await quick().pick(/good morning/);
    await chat.waitForTitle('say good morning');
    await chat.waitForReply('the needle is in here');
  });

  it('is condensed by palette and by /compact, which says so where there is nothing to gain', async () => {
    await pilothouse.newSession();
    await window().runCommand('Pilothouse: Compact Conversation');
    await window().notifications.waitFor(/nothing to condense/);
    await window().notifications.dismiss(/nothing to condense/);
    for (const word of ['one', 'two', 'three', 'four', 'five']) {
      await chat.send(`say ${word}`, `think about ${word} ${'at length '.repeat(40)}`);
      await chat.waitForReply(new RegExp(`${word}[\\s\\S]*Finished`));
    }
    await window().runCommand('Pilothouse: Compact Conversation');
    await chat.waitForReply(/\d+ messages condensed to \d+/);
    await chat.waitForActivity('Ready');
    await (await chat.frame()).getByRole('button', { name: /messages condensed to/ }).click();
    await chat.waitForReply('What the agent reads in place of them');
    await window().screenshot('condensed');
    await chat.send('say six', 'say seven', 'say eight');
    await chat.waitForReply(/eight[\s\S]*Finished/);
    await chat.type('/com');
    await chat.suggest('/compact');
    await window().pressKeys('Enter');
    await until('it to be condensed again', async () => {
      const told = (await chat.replies()).match(/messages condensed to/g) ?? [];
      return told.length === 2;
    });
  });
});

describe('a session on its way', () => {
  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  afterEach(() => pilothouse.calm());

  const textOf = (name: string) => readFile(file(name), 'utf8');

  /** Writes a path into the editor's own file dialog, once it has filled in where it begins. */
  async function choosePath(path: string, beginsAt: string): Promise<void> {
    const { quickInput, page } = window();
    await quickInput.waitFor();
    const input = page.locator('.quick-input-widget .quick-input-box input').first();
    await until('the dialog to be there', async () =>
      (await input.inputValue()).endsWith(beginsAt),
    );
    await until('the path to stand', async () => {
      if ((await input.inputValue()) === path) return true;
      await quickInput.type(path);
      return false;
    });
    await quickInput.accept();
    await quickInput.waitUntilClosed();
  }

  it('is exported to read and to keep, and taken in again with what was checked', async () => {
    await pilothouse.newSession();
    await chat.send('say this goes on a journey');
    await chat.waitForReply(/goes on a journey[\s\S]*Finished/);
    const id = await pilothouse.sessionId();
    await window().runCommand('Pilothouse: Export Session as Markdown…');
    await choosePath(file('journey.md'), 'say this goes on a journey.md');
    await window().notifications.waitFor(/was exported to journey\.md/);
    expect(await readFile(file('journey.md'), 'utf8')).toContain('this goes on a journey');
    await window().runCommand('Pilothouse: Export Session as JSON…');
    await choosePath(file('journey.json'), 'say this goes on a journey.json');
    await window().notifications.waitFor(/was exported to journey\.json/);

    await window().runCommand('Pilothouse: Delete Session');
    await window().dialogs.waitFor(/Delete/);
    await window().dialogs.click('Delete');
    await chat.waitForActivity('No session');
    const whole = await readFile(file('journey.json'), 'utf8');
    const at = whole.lastIndexOf('on a journey');
    await writeFile(file('forged.json'), `${whole.slice(0, at)}on A${whole.slice(at + 4)}`);
    await window().runCommand('Pilothouse: Import Session…');
    await choosePath(file('forged.json'), '/');
    await window().notifications.waitFor(
      /forged\.json was not imported: it was changed after it was exported/,
    );
    await window().notifications.dismiss(/forged\.json was not imported/);
    expect(await chat.shown()).toBe('');

    await window().runCommand('Pilothouse: Import Session…');
    await choosePath(file('journey.json'), '/');
    await window().notifications.waitFor(/Imported and checked: \d+ records, hash [0-9a-f]{12}/);
    await chat.waitForReply('this goes on a journey');
    expect(await pilothouse.sessionId()).toBe(id);
    await chat.send('say I am back');
    await chat.waitForReply('I am back');
  });

  it('keeps its files when told to, and they can be gone back to', async () => {
    await writeFile(file('mine.txt'), 'as it was');
    await pilothouse.newSession();
    await chat.send('say hello');
    await chat.waitForReply(/hello[\s\S]*Finished/);
    await window().runCommand('Pilothouse: Keep Files Now');
    await window().notifications.waitFor(/The files are kept as they are now/, 60_000);
    await writeFile(file('mine.txt'), 'changed since');
    await window().notifications.click(/The files are kept/, 'Restore Files…');
    await window().quickInput.waitFor();
    await window().screenshot('kept-files');
    await window().quickInput.pick('Files kept by you');
    await window().dialogs.waitFor(/Restore files to this state/);
    await window().dialogs.click('Restore, Overwrite It');
    await until('the file to be as it was', async () => (await textOf('mine.txt')) === 'as it was');
  });
});

describe('the store of a session fails', () => {
  let home = '';
  const { pilothouse } = usePilothouse(async () => {
    home = await mkdtemp(join(tmpdir(), 'pilothouse-host-home-'));
    return { env: { PILOTHOUSE_HOME: home } };
  });
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  afterEach(() => pilothouse.calm());
  afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

  it('the chat says what happened and the way out, and no text is lost', async () => {
    await pilothouse.newSession();
    await chat.send('say all is well');
    await chat.waitForReply(/all is well[\s\S]*Finished/);
    await chat.waitForActivity('Ready');
    const other = new DatabaseSync(join(home, 'sessions.db'));
    try {
      other.exec('BEGIN IMMEDIATE');
      await chat.send('say this was not saved');
      await chat.waitForText(/This session can’t be saved[\s\S]*in use by another program/);
      await chat.waitForPending(/this was not saved/, 'not sent');
      const sessions = await pilothouse.sessions();
      await sessions.waitFor('say all is well', ({ description }) => description.includes('saved'));
      await chat.type('typed meanwhile');
      await window().screenshot('fault');
      other.exec('ROLLBACK');
    } finally {
      other.close();
    }
    await chat.press('Try Again');
    await until(
      'the fault to be over',
      async () => !(await chat.text()).includes('can’t be saved'),
    );
    expect(await (await chat.composer()).inputValue()).toBe('typed meanwhile');
    await (await chat.composer()).fill('');
    await chat.press('Put into Composer');
    await until('the prompt in the composer', async () =>
      (await (await chat.composer()).inputValue()).includes('this was not saved'),
    );
    await window().pressKeys('Enter');
    await chat.waitForReply('this was not saved');
    expect(await chat.pendingTexts()).toEqual([]);
  });
});
