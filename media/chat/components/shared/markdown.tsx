import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { MarkdownPainter } from '../../markdown/painter.ts';
import { useServices, useStrings } from './context.ts';

/** Painted texts that scrolled away are kept for a while, so that coming back costs nothing. */
const KEPT = 200;
const painters = new Map<string, MarkdownPainter>();

function take(id: string, make: () => MarkdownPainter): MarkdownPainter {
  const painter = painters.get(id) ?? make();
  painters.delete(id);
  painters.set(id, painter);
  const oldest = painters.size > KEPT ? painters.keys().next().value : undefined;
  if (oldest !== undefined) painters.delete(oldest);
  return painter;
}

type Props = { readonly id: string; readonly text: string; readonly streaming: boolean };

/** A Markdown text that may still grow. */
export function Markdown({ id, text, streaming }: Props): JSX.Element {
  const { post } = useServices();
  const strings = useStrings();
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const painter = take(
      id,
      () => new MarkdownPainter({ strings, copy: (code) => post({ type: 'copy', text: code }) }),
    );
    painter.update(text, streaming);
    if (painter.root.parentNode !== place.current) place.current?.replaceChildren(painter.root);
  }, [id, text, streaming, strings, post]);
  return <div ref={place} />;
}
