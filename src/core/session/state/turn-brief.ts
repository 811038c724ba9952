import type { PlanEntry } from '../../../protocol/acp.ts';
import type { HistoryEvent } from '../events.ts';
import type { ModelPart } from '../model.ts';
import { toModelParts, toPlainText } from './prompt-content.ts';

/**
 * What turns are about since the newest prompt, folded from the history: kept apart from the messages, since those may
 * be compacted.
 */
export class TurnBrief {
  /** The text of the newest prompt. */
  objective = '';
  /** Its pictures and sounds. */
  attachments: readonly ModelPart[] = [];
  /** The texts of the steers and interrupts that were delivered since, oldest first. */
  steers: readonly string[] = [];
  /** Replies since that are messages of the conversation, or were. */
  replies = 0;
  /** The newest plan. */
  plan: readonly PlanEntry[] = [];
  /** Tokens that the newest reply took of its model's context, and how many there are; 0 where it is not known. */
  context: { readonly used: number; readonly size: number } = { used: 0, size: 0 };

  apply(event: HistoryEvent): void {
    switch (event.type) {
      case 'turn_started':
        // What the machine begins goes on with what the person asked for.
        if (event.origin === 'machine') break;
        this.objective = event.modelText ?? toPlainText(event.content);
        this.attachments = toModelParts(event.content).filter(({ type }) => type !== 'text');
        this.steers = [];
        this.replies = 0;
        break;
      case 'inject_delivered':
        if (event.mode !== 'queue') this.steers = [...this.steers, toPlainText(event.content)];
        break;
      case 'plan_changed':
        this.plan = event.entries;
        break;
      case 'usage_changed':
        this.context = { used: event.used, size: event.size };
        break;
      case 'compacted':
        this.context = { used: 0, size: this.context.size };
        break;
      default:
        break;
    }
  }
}
