import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { format } from '../../strings.ts';
import { useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { place } from '../shared/menu.tsx';

type Props = {
  /** What is set to something unusual, in words. */
  readonly unusual: readonly string[];
  readonly children: ComponentChildren;
};

/** A button for the options that have no place in the row; a dot on it says that one of them is not as usual. */
export function MoreOptions({ unusual, children }: Props): JSX.Element {
  const strings = useStrings();
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const label =
    unusual.length === 0 ? strings.optionsMore : format(strings.optionsMoreSet, unusual.join(', '));
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`icon-button more-options ${open ? 'open' : ''}`}
        title={label}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="settings" />
        {unusual.length > 0 && <span class="more-dot" aria-hidden="true" />}
      </button>
      {open && (
        <Panel
          label={strings.optionsMore}
          anchor={() => button.current}
          onClose={() => setOpen(false)}
        >
          {children}
        </Panel>
      )}
    </>
  );
}

type PanelProps = {
  readonly label: string;
  readonly children: ComponentChildren;
  readonly anchor: () => HTMLElement | null;
  readonly onClose: () => void;
};

/** Closed by Escape, a click elsewhere, or when the keyboard leaves it. Stays open while values are chosen. */
function Panel({ label, children, anchor, onClose }: PanelProps): JSX.Element {
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = panel.current;
    if (element === null) return undefined;
    element.showPopover();
    place(element, anchor());
    element.querySelector<HTMLElement>('select, button')?.focus();
    window.addEventListener('resize', onClose);
    return () => window.removeEventListener('resize', onClose);
  }, []);
  return (
    <div
      ref={panel}
      class="menu more-panel"
      role="dialog"
      aria-label={label}
      popover="auto"
      onToggle={(event) => {
        if (event.newState === 'closed') onClose();
      }}
      onFocusOut={({ relatedTarget }) => {
        const isElsewhere =
          relatedTarget instanceof Node && panel.current?.contains(relatedTarget) === false;
        // The button's own click closes it; twice would open it again.
        if (isElsewhere && relatedTarget !== anchor()) onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // Escape stops a turn where nothing else takes it.
        event.preventDefault();
        event.stopPropagation();
        onClose();
        anchor()?.focus();
      }}
    >
      {children}
    </div>
  );
}
