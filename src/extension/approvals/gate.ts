import type { JsonObject } from '../../base/json.ts';
import type { PermissionOption, ToolKind } from '../../protocol/acp.ts';
import type { ChatDiff, ChatGate } from '../../protocol/chat.ts';

/** A question of a session to a person, open now. */
export type Gate = {
  readonly gateId: string;
  readonly sessionId: string;
  /** The delegate that asks; its name stands in the question. */
  readonly loopId?: string;
  readonly openedAt: number;
  readonly question: GateQuestion;
};

/** What is asked. */
export type GateQuestion =
  | {
      readonly kind: 'permission';
      readonly toolCallId: string;
      readonly title: string;
      readonly toolKind: ToolKind;
      readonly reason: string;
      readonly details: readonly string[];
      readonly diffs: readonly ChatDiff[];
      readonly options: readonly PermissionOption[];
    }
  | { readonly kind: 'ask'; readonly message: string; readonly schema: JsonObject }
  | {
      readonly kind: 'auth';
      readonly target: string;
      readonly targetKind: 'model' | 'mcp' | 'link';
      readonly message: string;
      readonly url?: string;
      /** It closes by itself once an editor with language models is there. */
      readonly waitsFor?: 'editor';
    };

/** How a gate was closed. `cancelled`: nobody answered, the question is void. */
export type GateAnswer =
  | { readonly kind: 'selected'; readonly optionId: string }
  | { readonly kind: 'accepted'; readonly content: JsonObject }
  | { readonly kind: 'declined' }
  | { readonly kind: 'cancelled' };

/** The gate as the chat shows it. */
export function chatGate({ gateId, question, ...gate }: Gate): ChatGate {
  const loop = gate.loopId === undefined ? {} : { loopId: gate.loopId };
  switch (question.kind) {
    case 'permission':
      return {
        kind: 'permission',
        gateId,
        ...loop,
        toolCallId: question.toolCallId,
        title: question.title,
        reason: question.reason,
        details: question.details,
        diffs: question.diffs,
        options: question.options.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
      };
    case 'ask':
      return { kind: 'ask', gateId, ...loop, message: question.message, schema: question.schema };
    case 'auth':
      return {
        kind: 'auth',
        gateId,
        target: question.target,
        message: question.message,
        ...(question.url === undefined ? {} : { url: question.url }),
        ...(question.waitsFor === undefined ? {} : { waitsFor: question.waitsFor }),
      };
  }
}

/** What a gate asks, in one line. */
export function gateTitle({ question }: Gate): string {
  return question.kind === 'permission' ? question.title : question.message;
}

/** The option that allows just this once, or the mildest that allows at all. */
export function allowOption(gate: Gate): PermissionOption | null {
  return optionOf(gate, ['allow_once', 'allow_always']);
}

/** The option that rejects just this once, or the mildest that rejects at all. */
export function rejectOption(gate: Gate): PermissionOption | null {
  return optionOf(gate, ['reject_once', 'reject_always']);
}

function optionOf({ question }: Gate, kinds: readonly string[]): PermissionOption | null {
  if (question.kind !== 'permission') return null;
  for (const kind of kinds) {
    const found = question.options.find((option) => option.kind === kind);
    if (found) return found;
  }
  return null;
}
