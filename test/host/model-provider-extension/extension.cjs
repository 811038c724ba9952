// A language model that does what the last prompt says, one line after the other:
//   call TOOL JSON   asks for a tool call; its result is said back before the script goes on
//   slow             streams a word every 100 ms until it is cancelled
//   refuse           fails as a blocked request does
//   anything else    is said
const vscode = require('vscode');

const MODEL = {
  id: 'scripted-1',
  name: 'Scripted One',
  family: 'scripted',
  version: '1',
  maxInputTokens: 100_000,
  maxOutputTokens: 10_000,
  capabilities: { toolCalling: true, imageInput: false },
};

function textOf(parts) {
  return parts
    .filter((part) => part instanceof vscode.LanguageModelTextPart)
    .map((part) => part.value)
    .join('');
}

/** The lines of the newest prompt, and the results of the calls made since. */
function scriptOf(messages) {
  const isPrompt = (message) =>
    message.role === vscode.LanguageModelChatMessageRole.User && textOf(message.content) !== '';
  const at = messages.findLastIndex(isPrompt);
  const results = messages
    .slice(at + 1)
    .flatMap((message) => message.content)
    .filter((part) => part instanceof vscode.LanguageModelToolResultPart)
    .map((part) => textOf(part.content));
  const lines = at < 0 ? [] : textOf(messages[at].content).split('\n');
  return { lines: lines.map((line) => line.trim()).filter(Boolean), results };
}

function pause(ms, token) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    token.onCancellationRequested(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function streamSlowly(progress, token) {
  for (let word = 1; !token.isCancellationRequested; word += 1) {
    progress.report(new vscode.LanguageModelTextPart(`word${word} `));
    await pause(100, token);
  }
}

async function reply(messages, progress, token) {
  const { lines, results } = scriptOf(messages);
  let calls = 0;
  for (const line of lines) {
    const call = /^call (\S+) (\{.*\})$/.exec(line);
    if (call) {
      const result = results[calls];
      calls += 1;
      if (result === undefined) {
        const input = JSON.parse(call[2]);
        progress.report(new vscode.LanguageModelToolCallPart(`call-${calls}`, call[1], input));
        return;
      }
      if (calls === results.length)
        progress.report(new vscode.LanguageModelTextPart(`The tool said: ${result}\n`));
    } else if (line === 'refuse') throw vscode.LanguageModelError.Blocked('Refused by the script.');
    else if (line === 'slow') await streamSlowly(progress, token);
    else if (calls === results.length)
      progress.report(new vscode.LanguageModelTextPart(`${line}\n`));
  }
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider('scripted', {
      provideLanguageModelChatInformation: async () => [MODEL],
      provideLanguageModelChatResponse: async (_model, messages, _options, progress, token) =>
        reply(messages, progress, token),
      provideTokenCount: async (_model, text) => (typeof text === 'string' ? text.length : 1),
    }),
  );
};
