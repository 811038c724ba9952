import { describe, expect, test } from 'vitest';
import { createDrafts, EMPTY_DRAFT } from '../../../media/chat/bridge/drafts.ts';
import { createImeGuard } from '../../../media/chat/composer/ime.ts';
import { withCompose, withoutSent } from '../../../media/chat/composer/merge-draft.ts';
import { replaceTrigger, triggerAt } from '../../../media/chat/composer/trigger.ts';

const ENTER = {
  key: 'Enter',
  keyCode: 13,
  isComposing: false,
  shiftKey: false,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
};

describe('Enter', () => {
  test('sends alone, with Alt and with Control or Meta, each in its own way; with Shift it breaks the line', () => {
    const { sendKey } = createImeGuard();
    expect(sendKey(ENTER)).toBe('enter');
    expect(sendKey({ ...ENTER, altKey: true })).toBe('altEnter');
    expect(sendKey({ ...ENTER, ctrlKey: true })).toBe('ctrlEnter');
    expect(sendKey({ ...ENTER, metaKey: true })).toBe('ctrlEnter');
    expect(sendKey({ ...ENTER, ctrlKey: true, altKey: true })).toBeNull();
    expect(sendKey({ ...ENTER, shiftKey: true })).toBeNull();
    expect(sendKey({ ...ENTER, key: 'a' })).toBeNull();
  });

  test('that commits a composition does not send, in the order of Chromium', () => {
    const ime = createImeGuard();
    ime.compositionStart();
    expect(ime.sendKey({ ...ENTER, keyCode: 229, isComposing: true })).toBeNull();
    ime.compositionEnd();
    expect(ime.sendKey(ENTER)).toBe('enter');
  });

  test('that commits a composition does not send, in the order of Safari', () => {
    const ime = createImeGuard();
    ime.compositionStart();
    ime.compositionEnd();
    expect(ime.sendKey({ ...ENTER, keyCode: 229 })).toBeNull();
    expect(ime.sendKey(ENTER)).toBe('enter');
  });

  test('during a composition whose keydown says nothing of it does not send', () => {
    const ime = createImeGuard();
    ime.compositionStart();
    expect(ime.sendKey(ENTER)).toBeNull();
  });
});

describe('triggers', () => {
  test.each([
    ['@', 1, { kind: 'mention', query: '', start: 0 }],
    ['see @src/gr', 11, { kind: 'mention', query: 'src/gr', start: 4 }],
    ['a@b', 3, null],
    ['@done and', 9, null],
    ['/com', 4, { kind: 'command', query: 'com', start: 0 }],
    ['/compact now', 12, null],
    ['not /this', 9, null],
  ])('in %j at %i', (text, caret, expected) => {
    expect(triggerAt(text, caret)).toEqual(expected);
  });

  test('a picked path with blanks stays whole, and the text behind the caret stays', () => {
    const trigger = triggerAt('see @b please', 6);
    if (trigger === null) throw new Error('no trigger');
    expect(replaceTrigger('see @b please', 6, trigger, '@b ü (1).txt ')).toEqual({
      text: 'see @b ü (1).txt please',
      caret: 17,
    });
  });
});

describe('drafts', () => {
  const file = {
    kind: 'file',
    name: 'b ü (1).txt',
    uri: 'file:///a%20b/%C3%BC%20(1).txt',
  } as const;

  test('survive the page, each with its session', () => {
    let state: unknown = null;
    const api = {
      getState: () => state,
      setState: (next: unknown) => {
        state = JSON.parse(JSON.stringify(next));
      },
    };
    const before = createDrafts(api);
    before.setDraft('s1', { ...EMPTY_DRAFT, text: 'half a thou', attachments: [file] });
    before.setDraft(null, { ...EMPTY_DRAFT, text: 'elsewhere' });
    before.setScroll('s1', { id: 'row', offset: 12 });
    before.setLastSession('s1');
    before.flush();
    const after = createDrafts(api);
    expect(after.draft('s1')).toEqual({ text: 'half a thou', attachments: [file], images: [] });
    expect(after.draft(null).text).toBe('elsewhere');
    expect(after.draft('s2')).toEqual(EMPTY_DRAFT);
    expect(after.scroll('s1')).toEqual({ id: 'row', offset: 12 });
    expect(after.lastSession()).toBe('s1');
  });

  test.each([[undefined], ['x'], [{ version: 9 }], [{ version: 1, sessions: [3, { id: 1 }] }]])(
    'begin empty where the kept state is %j',
    (state) => {
      const drafts = createDrafts({ getState: () => state, setState: () => undefined });
      expect(drafts.draft('s1')).toEqual(EMPTY_DRAFT);
    },
  );

  test('keep what was typed while they were sent', () => {
    const sent = { ...EMPTY_DRAFT, text: 'first', attachments: [file] };
    expect(withoutSent({ ...sent, text: 'first and more' }, sent)).toEqual({
      text: 'and more',
      attachments: [],
      images: [],
    });
    expect(withoutSent(sent, sent)).toEqual(EMPTY_DRAFT);
  });

  test('take composed text on a new line and each attachment once', () => {
    const draft = { ...EMPTY_DRAFT, text: 'a', attachments: [file] };
    const request = { seq: 1, text: 'b', takesBack: null, attachments: [file], focus: true };
    expect(withCompose(draft, request)).toEqual({ text: 'a\nb', attachments: [file], images: [] });
  });

  test('give a text back that was put in, unless the person has changed it', () => {
    const request = { seq: 1, text: '', takesBack: 'put in', attachments: [], focus: false };
    const draft = (text: string) => withCompose({ ...EMPTY_DRAFT, text }, request).text;
    expect(draft('put in')).toBe('');
    expect(draft('put in and changed')).toBe('put in and changed');
    expect(draft('mine\nput in')).toBe('mine\nput in');
  });
});
