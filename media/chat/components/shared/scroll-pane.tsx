import type { ComponentChildren, CSSProperties, JSX, Ref } from 'preact';

type Props = {
  readonly class: string;
  readonly label: string;
  readonly children: ComponentChildren;
  readonly pane?: Ref<HTMLDivElement>;
  readonly style?: CSSProperties;
};

/** A part that scrolls by itself: reachable by keyboard and named, without being a landmark. */
export function ScrollPane(props: Props): JSX.Element {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form controls
    <div
      ref={props.pane ?? null}
      class={props.class}
      role="group"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
      {...(props.style === undefined ? {} : { style: props.style })}
    >
      {props.children}
    </div>
  );
}
