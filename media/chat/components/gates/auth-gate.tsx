import type { JSX } from 'preact';
import type { ChatGate } from '../../../../src/protocol/chat.ts';
import type { AnswerState } from '../../state/view-state.ts';
import { Button } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import type { GateAnswer } from './gate-list.tsx';

type Props = {
  readonly gate: Extract<ChatGate, { kind: 'auth' }>;
  readonly state: AnswerState | null;
  /** False while the card has just come: its buttons do nothing yet. */
  readonly settled: boolean;
  readonly onAnswer: (given: GateAnswer) => void;
};

/** What the turn waits for: a page to open, a key to enter, or an editor, for which there is nothing to do here. */
export function AuthGate({ gate, state, settled, onAnswer }: Props): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const { url } = gate;
  return (
    <>
      <p class="quiet">{gate.target}</p>
      <div class="gate-options">
        {url === undefined && gate.waitsFor === undefined && (
          <Button inert={!settled} onClick={() => post({ type: 'command', name: 'set_key' })}>
            {strings.gateSetKey}
          </Button>
        )}
        {url !== undefined && (
          <Button inert={!settled} onClick={() => post({ type: 'open_link', href: url })}>
            {strings.gateSignIn}
          </Button>
        )}
        <Button
          secondary
          disabled={state?.sending === true}
          inert={!settled}
          onClick={() => onAnswer({ content: {} })}
        >
          {strings.gateSignedIn}
        </Button>
        <Button
          secondary
          disabled={state?.sending === true}
          inert={!settled}
          onClick={() => onAnswer({ declined: true })}
        >
          {strings.gateCancel}
        </Button>
      </div>
    </>
  );
}
