import type { JSX } from 'preact';
import type { ChatGate } from '../../../../src/protocol/chat.ts';
import type { AnswerState } from '../../state/view-state.ts';
import { format } from '../../strings.ts';
import { DiffView } from '../log/diff-view.tsx';
import { Button } from '../shared/buttons.tsx';
import { useStrings } from '../shared/context.ts';
import type { GateAnswer } from './gate-list.tsx';

type Option = Extract<ChatGate, { kind: 'permission' }>['options'][number];

type Props = {
  readonly gate: Extract<ChatGate, { kind: 'permission' }>;
  readonly state: AnswerState | null;
  /** False while the card has just come: its buttons do nothing yet. */
  readonly settled: boolean;
  readonly onAnswer: (given: GateAnswer) => void;
};

/** What a tool wants to do, and the ways to answer. */
export function PermissionGate({ gate, state, settled, onAnswer }: Props): JSX.Element {
  const strings = useStrings();
  // One detail that the title or the diff shows already would only be read twice.
  const isTold =
    gate.details.length === 0 ||
    (gate.details.length === 1 && (gate.diffs.length > 0 || gate.details[0] === gate.title));
  const once = gate.options.filter(({ kind }) => kind === 'allow_once' || kind === 'reject_once');
  const always = gate.options.filter((option) => !once.includes(option));
  const button = (option: Option): JSX.Element => {
    const position = gate.options.indexOf(option) + 1;
    const shortcut = position <= 9 ? { shortcut: `Alt+${position}` } : {};
    return (
      <Button
        key={option.optionId}
        secondary={option.kind !== 'allow_once'}
        disabled={state?.sending === true}
        inert={!settled}
        title={position <= 9 ? format(strings.gateShortcut, option.name, position) : option.name}
        {...shortcut}
        onClick={() => onAnswer({ optionId: option.optionId })}
      >
        {option.name}
      </Button>
    );
  };
  return (
    <>
      {!isTold && (
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
      <div class="gate-options">{once.map(button)}</div>
      {always.length > 0 && (
        <details class="gate-always">
          <summary>{strings.gateAlways}</summary>
          <div class="gate-options">{always.map(button)}</div>
        </details>
      )}
    </>
  );
}
