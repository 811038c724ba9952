import type { JSX } from 'preact';
import type { ChatGate } from '../../../../src/protocol/chat.ts';
import type { AnswerState } from '../../state/view-state.ts';
import { format } from '../../strings.ts';
import { DiffView } from '../log/diff-view.tsx';
import { Button } from '../shared/buttons.tsx';
import { useStrings } from '../shared/context.ts';
import type { GateAnswer } from './gate-list.tsx';

type Props = {
  readonly gate: Extract<ChatGate, { kind: 'permission' }>;
  readonly state: AnswerState | null;
  readonly onAnswer: (given: GateAnswer) => void;
};

/** What a tool wants to do, and the ways to answer. */
export function PermissionGate({ gate, state, onAnswer }: Props): JSX.Element {
  const strings = useStrings();
  const primary = gate.options.findIndex((option) => option.kind === 'allow_once');
  return (
    <>
      {gate.details.length > 0 && (
        <ul class="gate-details">
          {gate.details.map((detail) => (
            <li key={detail}>
              <code>{detail}</code>
            </li>
          ))}
        </ul>
      )}
      {gate.diffs.map((diff) => (
        <DiffView key={diff.path} diff={diff} toolCallId={gate.toolCallId} foldId={gate.gateId} />
      ))}
      {gate.reason !== '' && <p class="quiet">{format(strings.gateReason, gate.reason)}</p>}
      <div class="gate-options">
        {gate.options.map((option, position) => (
          <Button
            key={option.optionId}
            secondary={position !== primary}
            disabled={state?.sending === true}
            title={
              position < 9 ? format(strings.gateShortcut, option.name, position + 1) : option.name
            }
            {...(position < 9 ? { shortcut: `Alt+${position + 1}` } : {})}
            onClick={() => onAnswer({ optionId: option.optionId })}
          >
            {option.name}
          </Button>
        ))}
      </div>
    </>
  );
}
