import type { FromChat } from '../../../../src/protocol/chat.ts';

/** Sends clicks on links to the extension; the page itself never navigates. Returns what ends it. */
export function catchLinks(root: HTMLElement, post: (message: FromChat) => void): () => void {
  const onClick = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (link === null) return;
    event.preventDefault();
    event.stopPropagation();
    post({ type: 'open_link', href: link.getAttribute('href') ?? '' });
  };
  root.addEventListener('click', onClick);
  root.addEventListener('auxclick', onClick);
  return () => {
    root.removeEventListener('click', onClick);
    root.removeEventListener('auxclick', onClick);
  };
}
