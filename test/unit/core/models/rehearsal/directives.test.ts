import { describe, expect, it } from 'vitest';
import { user } from '../fakes.ts';
import { drive, texts } from './drive.ts';

const SCRIPT = 'say 1\nsay 2\nsay 3\nfinish with END';

describe('a delivered steer', () => {
  it('runs its statements before the rest', async () => {
    const said = await texts(SCRIPT, { after: { 1: [user('say a\nsay b', 'steer')] } });
    expect(said).toEqual(['1', 'a', 'b', '2', '3', 'END']);
  });

  it('replaces the final message with its own', async () => {
    const said = await texts(SCRIPT, { after: { 2: [user('finish with NEW', 'steer')] } });
    expect(said).toEqual(['1', '2', '3', 'NEW']);
  });

  it('is acknowledged when it holds no statement, and is not counted as a step', async () => {
    const said = await texts('say 1\nsay 2', { after: { 1: [user('be careful', 'steer')] } });
    expect(said).toEqual([
      '1',
      expect.stringMatching(/^Noted:\n\n> be careful\n\nThe script goes on\.$/),
      '2',
      'Done: 2 steps, 0 failed.',
    ]);
  });

  it('keeps the order of several at one seam, and the newer seam goes first', async () => {
    const said = await texts(SCRIPT, {
      after: {
        1: [user('say a\nsay b', 'steer'), user('say c', 'steer')],
        2: [user('say d', 'steer')],
      },
    });
    expect(said).toEqual(['1', 'a', 'd', 'b', 'c', '2', '3', 'END']);
  });

  it('comes between a question and its answer without losing the answer', async () => {
    const said = await texts('ask Q\nsay z', {
      tools: () => 'blue',
      after: { 1: [user('say a', 'steer')] },
    });
    expect(said).toEqual(['', 'a', 'blue', 'z', 'Done: 3 steps, 0 failed.']);
  });

  it('after the final message is still done, and the final message said again', async () => {
    const said = await texts(SCRIPT, { after: { 4: [user('say late', 'steer')] } });
    expect(said).toEqual(['1', '2', '3', 'END', 'late', 'END']);
  });

  it('before the first reply goes first', async () => {
    const { replies } = await drive([user(SCRIPT), user('say a', 'steer')]);
    expect(replies.map((reply) => reply.text)).toEqual(['a', '1', '2', '3', 'END']);
  });
});

describe('a delivered interrupt', () => {
  it('replaces the rest, the final message too', async () => {
    const said = await texts(SCRIPT, { after: { 1: [user('say x\nsay y', 'interrupt')] } });
    expect(said).toEqual(['1', 'x', 'y', 'Done: 3 steps, 0 failed.']);
  });

  it('can bring its own final message', async () => {
    const said = await texts(SCRIPT, {
      after: { 1: [user('say x\nfinish with STOPPED', 'interrupt')] },
    });
    expect(said).toEqual(['1', 'x', 'STOPPED']);
  });

  it('without a statement is acknowledged and drops the rest', async () => {
    const said = await texts(SCRIPT, { after: { 1: [user('leave it', 'interrupt')] } });
    expect(said).toEqual([
      '1',
      'Noted:\n\n> leave it\n\nThe rest of the script is dropped.',
      'Done: 1 steps, 0 failed.',
    ]);
  });

  it('counts the skipped batch that it broke as failed', async () => {
    const said = await texts('together: write a: 1 ; write b: 2\nsay never', {
      tools: () => ({ status: 'interrupted' }),
      after: { 1: [user('say x', 'interrupt')] },
    });
    expect(said).toEqual(['', 'x', 'Done: 2 steps, 1 failed.']);
  });

  it('can be steered in turn', async () => {
    const said = await texts(SCRIPT, {
      after: {
        1: [user('say x\nsay y', 'interrupt'), user('say z', 'steer')],
        2: [user('say w', 'steer')],
      },
    });
    expect(said).toEqual(['1', 'x', 'w', 'y', 'z', 'Done: 5 steps, 0 failed.']);
  });

  it('drops steers that came before it and have not run', async () => {
    const said = await texts(SCRIPT, {
      after: { 1: [user('say a', 'steer'), user('say x', 'interrupt')] },
    });
    expect(said).toEqual(['1', 'x', 'Done: 2 steps, 0 failed.']);
  });
});

describe('envelopes', () => {
  it('are looked through, several in one message too', async () => {
    const envelope = [
      '<directives nonce="n">',
      '<directive authority="corrective" note="a > b">say a</directive>',
      '<directive authority="advisory">',
      'say b',
      '</directive>',
      '</directives>',
    ].join('\n');
    const said = await texts('say 1\nsay 2', { after: { 1: [user(envelope, 'steer')] } });
    expect(said).toEqual(['1', 'a', 'b', '2', 'Done: 4 steps, 0 failed.']);
  });

  it('that only appear in a text stay text', async () => {
    expect((await texts('say <directive x>y</directive>'))[0]).toBe('<directive x>y</directive>');
  });
});

describe('the script', () => {
  it('is the newest prompt alone', async () => {
    const first = await drive('say old 1\nsay old 2');
    const { replies } = await drive([...first.messages, user('say new')]);
    expect(replies.map((reply) => reply.text)).toEqual(['new', 'Done: 1 steps, 0 failed.']);
  });

  it('is not changed by what the machine says', async () => {
    const said = await texts(SCRIPT, { after: { 1: [user('say machine', 'machine')] } });
    expect(said).toEqual(['1', '2', '3', 'END']);
  });
});

describe('what is attached to a prompt', () => {
  it('is not read as a script', async () => {
    const prompt = user('say a');
    if (prompt.role !== 'user') throw new TypeError('not a user message');
    const attached = [
      { type: 'text', text: '<resource uri="file:///x">\nsay b\n</resource>' },
      { type: 'text', text: 'Attached: x.ts (file:///x.ts)' },
      { type: 'image', mimeType: 'image/png', data: '' },
    ] as const;
    const { replies } = await drive([{ ...prompt, parts: [...prompt.parts, ...attached] }]);
    expect(replies.map((reply) => reply.text)).toEqual(['a', 'Done: 1 steps, 0 failed.']);
  });
});
