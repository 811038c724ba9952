import type { ModelRequest } from '../../session/model.ts';
import { JUDGE_SYSTEM, readJudgeCase } from '../../session/side/judge-prompt.ts';
import { SUMMARY_SYSTEM } from '../../session/side/summary-prompt.ts';
import { textOf } from './envelope.ts';
import { parseScript } from './parse.ts';

/** The text of the last `finish with` of a script; null when there is none. */
export function finishOf(script: string): string | null {
  let finish: string | null = null;
  for (const statement of parseScript(script))
    if (statement.kind === 'finish') finish = statement.text;
  return finish;
}

/**
 * The answer where the engine asks for something else than the next reply: as a judge, or for a summary. Null for
 * every other request.
 */
export function sideReply(request: ModelRequest): string | null {
  if (request.system === JUDGE_SYSTEM) return judge(userText(request));
  if (request.system === SUMMARY_SYSTEM) return 'The rehearsal model keeps nothing but the script.';
  return null;
}

/** Restates the objective's own `finish with`, unless a steer brought another one. */
function judge(text: string): string {
  const look = readJudgeCase(text);
  const wanted = look === null ? null : finishOf(look.objective);
  const steered = look?.steers.some((steer) => finishOf(steer) !== null) ?? false;
  if (look === null || wanted === null || steered || look.answer.trim() === wanted.trim())
    return JSON.stringify({ verdict: 'done', reason: 'The script is done.', correction: null });
  return JSON.stringify({
    verdict: 'continue',
    reason: 'The final message is not the one that the script asks for.',
    correction: `finish with ${JSON.stringify(wanted)}`,
  });
}

function userText(request: ModelRequest): string {
  return request.messages
    .flatMap((message) => (message.role === 'user' ? [textOf(message)] : []))
    .join('\n');
}
