import type { ApproveToolCall, DenyToolCall, ProvideUserInput } from '../commands/command.ts';
import type { PersonsAnswer } from '../commands/entry-points.ts';
import type { CommandOrigin, CommandStamp } from '../commands/stamp.ts';
import type { OpenGate } from './gates.ts';

/** The command that an answer to a gate is. */
export function gateCommand(
  stamp: CommandStamp,
  { gateId, request }: OpenGate,
  answer: PersonsAnswer,
  origin: CommandOrigin,
): ApproveToolCall | DenyToolCall | ProvideUserInput {
  if (request.kind !== 'permission') {
    const provided = { gate_id: gateId, outcome: isYes(answer) } as const;
    const content =
      answer.kind === 'declined'
        ? {}
        : { content: answer.kind === 'accepted' ? answer.content : {} };
    const reason =
      answer.kind === 'declined' && answer.reason !== undefined ? { reason: answer.reason } : {};
    return stamp.stamp('provide_user_input', { ...provided, ...content, ...reason }, origin);
  }
  const { toolCallId, options } = request;
  const named = { gate_id: gateId, tool_call_id: toolCallId };
  const chosen =
    answer.kind === 'selected'
      ? options.find(({ optionId }) => optionId === answer.optionId)
      : undefined;
  if (chosen?.kind === 'allow_once' || chosen?.kind === 'allow_always')
    return stamp.stamp('approve_tool_call', { ...named, option_id: chosen.optionId }, origin);
  const said = answer.kind === 'selected' ? answer.note : undefined;
  const note = answer.kind === 'declined' ? answer.reason : said;
  return stamp.stamp(
    'deny_tool_call',
    { ...named, ...(note === undefined ? {} : { note }) },
    origin,
  );
}

function isYes(answer: PersonsAnswer): 'accepted' | 'declined' {
  return answer.kind === 'declined' ? 'declined' : 'accepted';
}
