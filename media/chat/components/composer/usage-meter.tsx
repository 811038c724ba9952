import type { JSX } from 'preact';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { format } from '../../strings.ts';
import { useStrings } from '../shared/context.ts';

/** How full the model's context is; the tooltip tells tokens and cost. */
export function UsageMeter({ usage }: { readonly usage: ChatStatus['usage'] }): JSX.Element | null {
  const strings = useStrings();
  if (usage === null || usage.size <= 0) return null;
  const percent = Math.min(100, Math.round((usage.used / usage.size) * 100));
  const text =
    usage.cost === undefined
      ? format(strings.usage, short(usage.used), short(usage.size), percent)
      : format(strings.usageCost, short(usage.used), short(usage.size), percent, usage.cost);
  return (
    <span class="usage" title={text}>
      <meter class="bar" value={percent} max={100} aria-label={text} />
      <span aria-hidden="true">{percent}%</span>
    </span>
  );
}

function short(tokens: number): string {
  return new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 }).format(
    tokens,
  );
}
