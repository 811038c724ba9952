import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ChatGate, FromChat } from '../../../../src/protocol/chat.ts';
import type { AnswerState, ViewState } from '../../state/view-state.ts';
import { format } from '../../strings.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { AskGate } from './ask-gate.tsx';
import { AuthGate } from './auth-gate.tsx';
import { PermissionGate } from './permission-gate.tsx';
import { useGateKeys } from './use-gate-keys.ts';
import { useSettledGates } from './use-settled-gates.ts';

/** What a person can answer a gate with. */
export type GateAnswer = Omit<Extract<FromChat, { type: 'answer' }>, 'type' | 'gateId'>;

/** The open gates, above the composer until each is answered, here or elsewhere. */
export function GateList({ view }: { readonly view: ViewState }): JSX.Element | null {
  const strings = useStrings();
  const { post, store } = useServices();
  const region = useRef<HTMLElement>(null);
  const isSettled = useSettledGates(view.gates);
  const answer = (gateId: string, given: GateAnswer): void => {
    if (!isSettled(gateId)) return;
    if (store.get().answers.get(gateId)?.sending === true) return;
    store.dispatch({ type: 'local_answer', gateId });
    post({ type: 'answer', gateId, ...given });
  };
  useGateKeys(region, view.gates, answer);
  useKeptFocus(region, view.gates);
  useEffect(() => {
    const id = view.reveal?.id;
    if (id !== undefined) focusGate(region.current, id);
  }, [view.reveal?.seq]);
  if (view.gates.length === 0) return null;
  return (
    <section ref={region} class="gates" aria-label={strings.gatesLabel}>
      {view.gates.map((gate, position) => (
        <Gate
          key={gate.gateId}
          gate={gate}
          position={format(strings.gatesCount, position + 1, view.gates.length)}
          several={view.gates.length > 1}
          settled={isSettled(gate.gateId)}
          state={view.answers.get(gate.gateId) ?? null}
          onAnswer={(given) => answer(gate.gateId, given)}
        />
      ))}
    </section>
  );
}

type GateProps = {
  readonly gate: ChatGate;
  readonly position: string;
  readonly several: boolean;
  readonly settled: boolean;
  readonly state: AnswerState | null;
  readonly onAnswer: (given: GateAnswer) => void;
};

const ICONS = { permission: 'shield', ask: 'question', auth: 'key' } as const;

function Gate({ gate, position, several, settled, state, onAnswer }: GateProps): JSX.Element {
  const strings = useStrings();
  const words = {
    permission: strings.gatePermission,
    ask: strings.gateAsk,
    auth: strings.gateAuth,
  };
  const title = gate.kind === 'permission' ? gate.title : gate.message;
  const titleId = `gate-${gate.gateId}`;
  return (
    <fieldset class="gate" aria-labelledby={titleId} data-gate={gate.gateId}>
      <header class="gate-head">
        <Icon name={ICONS[gate.kind]} />
        <span class="gate-kind">{words[gate.kind]}</span>
        {several && <span class="quiet">{position}</span>}
      </header>
      <p id={titleId} class="gate-title" dir="auto">
        {title}
      </p>
      {gate.kind === 'permission' && (
        <PermissionGate gate={gate} state={state} settled={settled} onAnswer={onAnswer} />
      )}
      {gate.kind === 'ask' && (
        <AskGate gate={gate} state={state} settled={settled} onAnswer={onAnswer} />
      )}
      {gate.kind === 'auth' && (
        <AuthGate gate={gate} state={state} settled={settled} onAnswer={onAnswer} />
      )}
      {state?.sending === true && (
        <p class="quiet" role="status">
          {strings.gateSending}
        </p>
      )}
      {typeof state?.error === 'string' && (
        <p class="gate-error" role="alert">
          {state.error}
        </p>
      )}
    </fieldset>
  );
}

/** When the gate that held the focus goes, the next gate or the composer takes it. */
function useKeptFocus(
  region: { readonly current: HTMLElement | null },
  gates: readonly ChatGate[],
): void {
  const inside = useRef(false);
  useEffect(() => {
    const onFocus = (): void => {
      inside.current = region.current?.contains(document.activeElement) ?? false;
    };
    document.addEventListener('focusin', onFocus);
    return () => document.removeEventListener('focusin', onFocus);
  }, [region]);
  useEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (!inside.current || !lost) return;
    inside.current = false;
    // The person has gone on to another part of the editor: the focus is theirs.
    if (!document.hasFocus()) return;
    const next = gates[0];
    if (next === undefined) document.querySelector('textarea')?.focus();
    else focusGate(region.current, next.gateId);
  }, [gates, region]);
}

function focusGate(region: HTMLElement | null, gateId: string): void {
  const gate = region?.querySelector(`[data-gate="${CSS.escape(gateId)}"]`);
  gate?.scrollIntoView({ block: 'nearest' });
  gate
    ?.querySelector<HTMLElement>(
      '.gate-form input, .gate-form select, vscode-textfield, vscode-button',
    )
    ?.focus();
}
