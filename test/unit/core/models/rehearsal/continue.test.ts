import { describe, expect, it } from 'vitest';
import { user } from '../fakes.ts';
import { assistant, drive } from './drive.ts';

const SCRIPT = 'say 1\nsay 2\nsay 3\nfinish with END';
const nothing = { text: '', thought: '', calls: [], reason: 'stop' } as const;

async function said(prompt: Parameters<typeof drive>[0]): Promise<string[]> {
  return (await drive(prompt)).replies.map(({ text }) => text);
}

describe('a prompt that only says continue', () => {
  it('goes on with the script of the prompt before it, behind what was said', async () => {
    const broken = [user(SCRIPT, 'prompt'), assistant({ ...nothing, text: '1' }, 1)];
    expect(await said([...broken, user('Continue.', 'prompt')])).toEqual(['2', '3', 'END']);
  });

  it('may come again, when the turn that went on broke off too', async () => {
    const broken = [
      user(SCRIPT, 'prompt'),
      assistant({ ...nothing, text: '1' }, 1),
      user('continue', 'prompt'),
      assistant({ ...nothing, text: '2' }, 2),
    ];
    expect(await said([...broken, user('continue', 'prompt')])).toEqual(['3', 'END']);
  });

  it('is a script like any other where nothing is before it, and where it says more', async () => {
    expect((await said([user('continue', 'prompt')]))[0]).toContain("I don't understand this");
    const more = [user(SCRIPT, 'prompt'), user('continue with the rest', 'prompt')];
    expect((await said(more))[0]).toContain("I don't understand this");
  });
});
