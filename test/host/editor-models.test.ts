import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { checkout } from '../vscode/install/paths.ts';
import { usePilothouse } from './support/pilothouse.ts';

const provider = fileURLToPath(new URL('model-provider-extension', import.meta.url));

describe('the language models of the editor', () => {
  const { pilothouse } = usePilothouse(async () => ({
    extensionDevelopmentPaths: [checkout, provider],
  }));
  const { chat } = pilothouse;

  afterEach(() => pilothouse.calm());

  it('drive a session: tool calls both ways, a refusal, and Stop', async () => {
    await pilothouse.newSession();
    await until(
      'the model to be offered',
      async () => {
        await pilothouse.window.runCommand('Pilothouse: Choose Model');
        const entries = await pilothouse.window.quickInput.entries();
        if (entries.some(({ label }) => label === 'Scripted One')) return true;
        await pilothouse.window.quickInput.cancel();
        return false;
      },
      { milliseconds: 60_000 },
    );
    await pilothouse.window.quickInput.pick('Scripted One');
    await chat.send('call list {"path":"."}', 'hello from the script');
    await chat.waitForReply(/The tool said: [\s\S]*hello from the script/);
    await chat.waitForActivity('Ready');

    await chat.send('refuse');
    await chat.waitForReply(/quota/);
    await chat.waitForActivity('Ready');

    await chat.send('slow');
    await chat.waitForReply('word3');
    await chat.press('Stop');
    await chat.waitForActivity('Ready');
    const words = (await chat.replies()).match(/word\d+/g)?.length ?? 0;
    await chat.send('the next turn');
    await chat.waitForReply('the next turn');
    expect((await chat.replies()).match(/word\d+/g)).toHaveLength(words);
  });
});
