import type { JSX } from 'preact';

/** A codicon; says nothing to screen readers, so a word always stands beside it. */
export function Icon({ name, spin = false }: { name: string; spin?: boolean }): JSX.Element {
  const spinning = spin ? ' codicon-modifier-spin' : '';
  return <span class={`codicon codicon-${name}${spinning}`} aria-hidden="true" />;
}
