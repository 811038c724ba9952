import { useLayoutEffect } from 'preact/hooks';
import type { ChatGate } from '../../../../src/protocol/chat.ts';
import type { GateAnswer } from './gate-list.tsx';

/** Alt+1 … Alt+9 choose an option of the permission that holds the focus, else of the first one. */
export function useGateKeys(
  region: { readonly current: HTMLElement | null },
  gates: readonly ChatGate[],
  answer: (gateId: string, given: GateAnswer) => void,
): void {
  // In step with what is drawn: a key that comes right after the buttons can be pressed counts as they do.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      // The place on the keyboard, because Alt makes other characters of digits on some systems.
      const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
      if (digit === undefined || !event.altKey || event.ctrlKey || event.metaKey) return;
      const gate = chosenGate(region.current, gates);
      const option = gate?.options[Number(digit) - 1];
      if (gate === undefined || option === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      // A key that is held down must not answer the gate that comes next.
      if (event.repeat) return;
      answer(gate.gateId, { optionId: option.optionId });
    };
    window.addEventListener('keydown', onKeyDown, { capture: true });
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true });
  });
}

function chosenGate(
  region: HTMLElement | null,
  gates: readonly ChatGate[],
): Extract<ChatGate, { kind: 'permission' }> | undefined {
  const permissions = gates.filter((gate) => gate.kind === 'permission');
  const focused = document.activeElement?.closest<HTMLElement>('[data-gate]');
  const inRegion = focused !== null && focused !== undefined && region?.contains(focused) === true;
  return inRegion
    ? permissions.find((gate) => gate.gateId === focused.dataset['gate'])
    : permissions[0];
}
