import type { JSX } from 'preact';
import type { ChatInjectMode, ChatItem } from '../../../../src/protocol/chat.ts';
import { format, type Strings } from '../../strings.ts';
import { useStrings } from '../shared/context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';

type ItemOf<K extends ChatItem['kind']> = Extract<ChatItem, { kind: K }>;

const INJECT_ICONS: Readonly<Record<ChatInjectMode, string>> = {
  steer: 'compass',
  interrupt_immediate: 'zap',
  queue: 'note',
};

/** How a message came into a running turn, above its text. */
export function InjectLabel({
  inject,
}: {
  readonly inject: NonNullable<ItemOf<'user'>['inject']>;
}): JSX.Element {
  const strings = useStrings();
  return (
    <p class={`inject inject-${inject.mode}`}>
      <Icon name={INJECT_ICONS[inject.mode]} />
      <span class="inject-word">{injectWord(inject.mode, strings)}</span>
      {inject.seam !== '' && <span class="quiet">{inject.seam}</span>}
    </p>
  );
}

/** What a message in that mode is called once it has arrived. */
export function injectWord(mode: ChatInjectMode, strings: Strings): string {
  switch (mode) {
    case 'steer':
      return strings.injectSteered;
    case 'interrupt_immediate':
      return strings.injectInterrupted;
    case 'queue':
      return strings.injectNote;
  }
}

const VERDICT_ICONS = { done: 'pass', vetoed: 'law', failed: 'warning' } as const;

/** A look of the completion judge: its verdict in a line, why when opened. */
export function JudgeRow({ item }: { readonly item: ItemOf<'judge'> }): JSX.Element {
  const strings = useStrings();
  const [open, toggle] = useFold(item.id, false);
  return (
    <div class={`judge judge-${item.verdict}`}>
      <button type="button" class="fold-button" aria-expanded={open} onClick={toggle}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <Icon name={VERDICT_ICONS[item.verdict]} />
        <span>{judgeText(item, strings)}</span>
      </button>
      {open && (
        <dl class="judge-body">
          <dt>{strings.judgeReason}</dt>
          <dd dir="auto">{item.reason || strings.judgeNoReason}</dd>
          {item.correction !== null && (
            <>
              <dt>{strings.judgeCorrection}</dt>
              <dd dir="auto">{item.correction}</dd>
            </>
          )}
          {item.judge !== '' && (
            <>
              <dt>{strings.judgeBy}</dt>
              <dd>{item.judge}</dd>
            </>
          )}
        </dl>
      )}
    </div>
  );
}

/** The verdict as a sentence; the reason goes with a veto, which changes what happens next. */
export function judgeText(item: ItemOf<'judge'>, strings: Strings): string {
  switch (item.verdict) {
    case 'done':
      return strings.judgeDone;
    case 'vetoed':
      return item.reason === '' ? strings.judgeVetoed : format(strings.judgeVetoedWhy, item.reason);
    case 'failed':
      return strings.judgeFailed;
  }
}
