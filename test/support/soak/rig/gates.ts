/** An open question as `_pilothouse/gates/list` shows it. */
export type ListedGate = {
  readonly gateId: string;
  readonly request?: { readonly kind?: string };
  readonly kind?: string;
};

/** What says yes to a question. */
export function answerTo(gate: ListedGate): object {
  const { gateId } = gate;
  switch (gate.request?.kind ?? gate.kind) {
    case 'permission':
      return { gateId, optionId: 'allow_once' };
    case 'ask':
      return { gateId, content: { answer: 'yes' } };
    default:
      return { gateId, decline: true };
  }
}
