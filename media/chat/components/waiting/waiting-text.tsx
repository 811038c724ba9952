import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LinkButton } from '../shared/buttons.tsx';
import { useStrings } from '../shared/context.ts';

type Props = { readonly text: string; readonly attached: readonly string[] };

/** A message in two lines at most; a longer one is shown whole on demand. */
export function WaitingText({ text, attached }: Props): JSX.Element {
  const strings = useStrings();
  const element = useRef<HTMLParagraphElement>(null);
  const [whole, setWhole] = useState(false);
  const [isLong, setIsLong] = useState(false);
  useLayoutEffect(() => {
    const shown = element.current;
    if (shown === null || whole) return undefined;
    const measure = (): void => setIsLong(shown.scrollHeight > shown.clientHeight + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(shown);
    return () => observer.disconnect();
  }, [text, whole]);
  return (
    <div class="waiting-text">
      <p ref={element} class={whole ? 'whole' : 'cut'} dir="auto">
        {text}
      </p>
      {(isLong || whole) && (
        <LinkButton onClick={() => setWhole(!whole)}>
          {whole ? strings.showLess : strings.showFull}
        </LinkButton>
      )}
      {attached.length > 0 && (
        <ul class="waiting-attached quiet" aria-label={strings.attachmentsLabel}>
          {attached.map((name) => (
            <li key={name} title={name}>
              {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
