import DOMPurify from 'dompurify';

const CONFIG = {
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr'],
    ...['img', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'ul'],
    ...['table', 'tbody', 'td', 'th', 'thead', 'tr'],
  ],
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'class', 'start'],
  // Relative targets are files of the workspace; the extension decides what it opens.
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto):|[^a-z]|[a-z+.-]+(?:[^a-z+.:-]|$))/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

/** HTML made from model or tool text as nodes that cannot run, load or restyle anything. */
export function sanitize(html: string): DocumentFragment {
  return DOMPurify.sanitize(html, {
    ...CONFIG,
    ALLOWED_TAGS: [...CONFIG.ALLOWED_TAGS],
    ALLOWED_ATTR: [...CONFIG.ALLOWED_ATTR],
  });
}
