import type { JSX } from 'preact';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { format, type Strings } from '../../strings.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { MenuButton } from '../shared/menu.tsx';

/** How full the model's context is; the tooltip tells tokens and cost, its menu condenses the conversation. */
export function UsageMeter({ status }: { readonly status: ChatStatus }): JSX.Element | null {
  const strings = useStrings();
  const { post } = useServices();
  const { usage, compacting = false, fault } = status;
  if (usage === null || usage.size <= 0) return null;
  const percent = Math.min(100, Math.round((usage.used / usage.size) * 100));
  const text = usageText(usage, percent, strings);
  return (
    <MenuButton
      label={format(strings.usageMenu, text)}
      class="usage"
      entries={[
        {
          id: 'compact',
          icon: 'fold',
          label: compacting ? strings.compacting : strings.usageCompact,
          disabled: compacting || fault !== undefined,
          onChoose: () => post({ type: 'command', name: 'compact' }),
        },
      ]}
    >
      <meter class="bar" value={percent} max={100} aria-label={text} />
      <span aria-hidden="true">{percent}%</span>
    </MenuButton>
  );
}

function usageText(
  { used, size, cost }: NonNullable<ChatStatus['usage']>,
  percent: number,
  strings: Strings,
): string {
  return cost === undefined
    ? format(strings.usage, short(used), short(size), percent)
    : format(strings.usageCost, short(used), short(size), percent, cost);
}

function short(tokens: number): string {
  return new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 }).format(
    tokens,
  );
}
