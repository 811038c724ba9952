import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { announcements } from '../state/announce.ts';
import { type Store, useView } from '../state/store.ts';
import type { ViewState } from '../state/view-state.ts';
import { Composer } from './composer/composer.tsx';
import { Empty } from './empty.tsx';
import { GateList } from './gates/gate-list.tsx';
import { Header } from './header.tsx';
import { Log } from './log/log.tsx';
import { Row } from './log/row.tsx';
import {
  type Services,
  ServicesContext,
  StagedPathsContext,
  StringsContext,
} from './shared/context.ts';
import { type Delegates, DelegatesContext } from './shared/delegate-context.ts';

const HINDERED: ReadonlySet<string> = new Set(['offline', 'untrusted', 'no_folder']);

/** The whole page. */
export function App({ services }: { readonly services: Services }): JSX.Element {
  const view = useView(services.store);
  const { status } = view;
  const isEmpty = view.items.length === 0;
  const delegates = useDelegates(view);
  return (
    <ServicesContext.Provider value={services}>
      <StringsContext.Provider value={view.strings}>
        <Header view={view} />
        <main class="main">
          {isEmpty ? (
            <Empty status={status} />
          ) : (
            <StagedPathsContext.Provider value={(status.staged?.paths ?? []).join('\n')}>
              <DelegatesContext.Provider value={delegates}>
                <Log key={status.sessionId} view={view} />
              </DelegatesContext.Provider>
            </StagedPathsContext.Provider>
          )}
        </main>
        {!isEmpty && HINDERED.has(status.activity) && <Empty status={status} compact />}
        <GateList view={view} />
        <Composer view={view} />
        <Announcer store={services.store} />
      </StringsContext.Provider>
    </ServicesContext.Provider>
  );
}

/** The same object while nothing of it changes: the cards of delegates are drawn by it. */
function useDelegates({ delegates: views, gates, resets, status }: ViewState): Delegates {
  const talksTo = status.talksTo?.loopId ?? null;
  const working = (status.delegatesAtWork ?? []).join('\n');
  return useMemo(() => {
    const asking = new Set<string>();
    for (const gate of gates)
      if (gate.kind !== 'auth' && gate.loopId !== undefined) asking.add(gate.loopId);
    return { views, asking, atWork: new Set(working.split('\n')), talksTo, resets, Row };
  }, [views, gates, resets, talksTo, working]);
}

/** Tells screen readers what happened, once a turn or gate. */
function Announcer({ store }: { readonly store: Store }): JSX.Element {
  const [texts, setTexts] = useState<readonly string[]>([]);
  useEffect(
    () =>
      store.subscribe((after, before) => {
        const said = announcements(before, after);
        if (said.length > 0) setTexts(said);
      }),
    [store],
  );
  return (
    <div class="sr-only announcer" role="status" aria-live="polite">
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}
