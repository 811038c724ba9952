import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** An entry of a menu. */
export type MenuEntry = {
  readonly id: string;
  readonly icon: string;
  readonly label: string;
  /** The key that does the same. */
  readonly hint?: string | undefined;
  /** Stays where it is and does nothing for now. */
  readonly disabled?: boolean;
  /** Begins a new group. */
  readonly apart?: boolean;
  readonly onChoose: () => void;
};

type Props = {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly icon?: string;
  /** Stands on the button in place of an icon. */
  readonly children?: ComponentChildren;
  readonly class?: string;
  /** Takes the keyboard when the menu closes; without it the button does. */
  readonly onLeave?: () => void;
};

/** A button that opens a menu. Keys as in any menu: arrows, Home, End, a letter; Escape and Tab close it. */
export function MenuButton(props: Props): JSX.Element {
  const { label, entries, icon, onLeave, children } = props;
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`icon-button menu-button ${props.class ?? ''} ${open ? 'open' : ''}`}
        title={label}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {children ?? <Icon name={icon ?? 'kebab-vertical'} />}
      </button>
      {open && (
        <Menu
          label={label}
          entries={entries}
          onLeave={onLeave ?? (() => button.current?.focus())}
          anchor={() => button.current}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

type MenuProps = Props & {
  readonly onLeave: () => void;
  readonly anchor: () => HTMLElement | null;
  readonly onClose: () => void;
};

function Menu({ label, entries, anchor, onClose, onLeave }: MenuProps): JSX.Element {
  const menu = useRef<HTMLDivElement>(null);
  // Before anything else happens: the next key is the menu's.
  useLayoutEffect(() => {
    const element = menu.current;
    if (element === null) return undefined;
    // In the top layer: the log would cut it off.
    element.showPopover();
    place(element, anchor());
    element.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const close = (event: Event): void => {
      if (!(event.target instanceof Node) || !element.contains(event.target)) onClose();
    };
    window.addEventListener('scroll', close, true);
    window.addEventListener('resize', onClose);
    return () => {
      window.removeEventListener('scroll', close, true);
      window.removeEventListener('resize', onClose);
    };
  }, []);
  const leave = (): void => {
    onClose();
    onLeave();
  };
  return (
    <div
      ref={menu}
      class="menu"
      role="menu"
      aria-label={label}
      popover="auto"
      onToggle={(event) => {
        if (event.newState === 'closed') onClose();
      }}
      onKeyDown={(event) => menuKey(event, leave)}
    >
      {entries.map((entry) => (
        <button
          key={entry.id}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={`menu-item ${entry.apart === true ? 'apart' : ''}`}
          aria-disabled={entry.disabled === true}
          onClick={() => {
            if (entry.disabled === true) return;
            leave();
            entry.onChoose();
          }}
        >
          <Icon name={entry.icon} />
          <span>{entry.label}</span>
          {entry.hint !== undefined && <kbd class="menu-hint">{entry.hint}</kbd>}
        </button>
      ))}
    </div>
  );
}

/** Below the button, or above it where there is no room; never past the page's edge. */
export function place(menu: HTMLElement, button: HTMLElement | null): void {
  if (button === null) return;
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + height <= window.innerHeight || at.top < height;
  const left = Math.min(Math.max(4, at.right - width), window.innerWidth - width - 4);
  menu.style.left = `${Math.max(0, left)}px`;
  menu.style.top = `${below ? at.bottom : at.top - height}px`;
}

function menuKey(event: KeyboardEvent, leave: () => void): void {
  const { currentTarget, target, key } = event;
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement)) return;
  // The rows of the log listen to the same keys.
  event.stopPropagation();
  if (key === 'Escape' || key === 'Tab') {
    event.preventDefault();
    leave();
    return;
  }
  const items = [...currentTarget.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  const next = nextItem(items, items.indexOf(target), key);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function nextItem(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown':
      return items[(at + 1) % items.length];
    case 'ArrowUp':
      return items.at(at - 1);
    case 'Home':
      return items[0];
    case 'End':
      return items.at(-1);
    default: {
      if (key.length !== 1 || key === ' ') return undefined;
      const ordered = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      const letter = key.toLocaleLowerCase();
      return ordered.find((item) =>
        (item.textContent ?? '').trim().toLocaleLowerCase().startsWith(letter),
      );
    }
  }
}
