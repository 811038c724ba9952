import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatCompletion } from '../../../../src/protocol/chat.ts';
import type { Trigger } from '../../composer/trigger.ts';
import type { ViewState } from '../../state/view-state.ts';
import { useServices } from '../shared/context.ts';

type Command = ViewState['status']['commands'][number];

/** One entry of the list above the composer. */
export type Suggestion =
  | { readonly kind: 'mention'; readonly completion: ChatCompletion }
  | { readonly kind: 'command'; readonly command: Command };

export type Suggestions = {
  readonly entries: readonly Suggestion[];
  readonly loading: boolean;
  readonly active: number;
  readonly setActive: (index: number) => void;
};

let nextRequest = 0;

/** What the list above the composer offers for a trigger; asks the extension for mentions. */
export function useSuggestions(trigger: Trigger | null, view: ViewState): Suggestions {
  const { post } = useServices();
  const asked = useRef(0);
  const [active, setActive] = useState(0);
  const kind = trigger?.kind ?? null;
  const query = trigger?.query ?? '';
  useEffect(() => {
    setActive(0);
    if (kind !== 'mention') return;
    nextRequest += 1;
    asked.current = nextRequest;
    post({ type: 'complete', requestId: nextRequest, query });
  }, [kind, query, post]);
  if (kind === 'command') {
    const entries = matchingCommands(view.status.commands, query);
    return { entries, loading: false, active: Math.min(active, entries.length - 1), setActive };
  }
  const found = kind === 'mention' ? view.completions : null;
  const entries = (found?.items ?? []).map((completion) => ({
    kind: 'mention' as const,
    completion,
  }));
  return {
    entries,
    loading: kind === 'mention' && found?.requestId !== asked.current,
    active: Math.min(active, entries.length - 1),
    setActive,
  };
}

function matchingCommands(commands: readonly Command[], query: string): readonly Suggestion[] {
  const wanted = query.toLowerCase();
  const starting = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const containing = commands.filter(
    (command) => !starting.includes(command) && command.name.toLowerCase().includes(wanted),
  );
  return [...starting, ...containing].map((command) => ({ kind: 'command', command }));
}
