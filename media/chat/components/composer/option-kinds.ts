import type { ChatStatus } from '../../../../src/protocol/chat.ts';

/** One of the session's options. */
export type Option = ChatStatus['options'][number];

const ICONS: ReadonlyMap<string, string> = new Map([
  ['mode', 'symbol-misc'],
  ['model', 'sparkle'],
  ['thought_level', 'lightbulb'],
  ['budget', 'watch'],
  ['judge', 'law'],
  ['checkpoints', 'save-all'],
  ['gate_timeout', 'clock'],
]);

/** The values that say nothing: a session has them before a person has chosen any. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ['budget', 'standard'],
  ['judge', 'off'],
  ['checkpoints', 'best_effort'],
  ['gate_timeout', 'off'],
]);

/** The codicon of an option; one that is not known has that of settings. */
export function optionIcon({ category, id }: Option): string {
  return ICONS.get(category ?? '') ?? ICONS.get(id) ?? 'settings';
}

/** True for what stands in the row under the text; where that is `narrow`, only mode and model do. */
export function isInRow({ category, id }: Option, narrow: boolean): boolean {
  const kind = category ?? id;
  return kind === 'mode' || kind === 'model' || (kind === 'thought_level' && !narrow);
}

/** True where a person has chosen something else than what a session has by itself, as far as that is known. */
export function isUnusual(option: Option): boolean {
  if (option.type === 'boolean') return option.currentValue;
  const usual = USUAL.get(option.id);
  return usual !== undefined && usual !== option.currentValue;
}

/** What the option is set to, in words. */
export function valueName(option: Option): string {
  if (option.type === 'boolean') return '';
  for (const entry of option.options)
    for (const choice of 'options' in entry ? entry.options : [entry])
      if (choice.value === option.currentValue) return choice.name;
  return option.currentValue;
}
