import '@vscode-elements/elements/dist/vscode-button/index.js';
import { type ComponentChildren, h, type JSX } from 'preact';
import { Icon } from './icon.tsx';

type ButtonProps = {
  readonly children: ComponentChildren;
  readonly onClick: () => void;
  readonly secondary?: boolean;
  readonly disabled?: boolean;
  /** Does nothing for now, but keeps the focus where it is. */
  readonly inert?: boolean;
  readonly title?: string;
  readonly shortcut?: string;
};

/** A button of a form or card. */
export function Button(props: ButtonProps): JSX.Element {
  return h(
    'vscode-button',
    {
      secondary: props.secondary === true,
      disabled: props.disabled === true,
      title: props.title,
      'aria-disabled': props.inert === true ? 'true' : undefined,
      'aria-keyshortcuts': props.shortcut,
      onClick: () => {
        if (props.disabled !== true && props.inert !== true) props.onClick();
      },
    },
    props.children,
  );
}

type IconButtonProps = {
  readonly icon: string;
  readonly label: string;
  /** The tooltip, where it is not the label. */
  readonly title?: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly class?: string;
};

/** A toolbar button: an icon whose label is its name and its tooltip. */
export function IconButton(props: IconButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ''}`}
      title={props.title ?? props.label}
      aria-label={props.label}
      aria-disabled={props.disabled === true}
      onClick={() => {
        if (props.disabled !== true) props.onClick();
      }}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** A button that reads like a link. */
export function LinkButton(props: {
  readonly children: ComponentChildren;
  readonly onClick: () => void;
  readonly label?: string;
}): JSX.Element {
  return (
    <button type="button" class="link-button" aria-label={props.label} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
