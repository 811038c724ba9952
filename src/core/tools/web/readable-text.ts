import { TextDecoder } from 'node:util';

/** A body as text that a model can read; null for a type that is not text. */
export async function readableText(body: Buffer, contentType: string): Promise<string | null> {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const html = type === 'text/html' || type === 'application/xhtml+xml';
  if (!html && !isTextType(type, body)) return null;
  const named = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length);
  const text = decode(body, named?.replaceAll('"', '') ?? (html ? charsetOfHtml(body) : undefined));
  return html ? await textOfHtml(text) : text;
}

async function textOfHtml(html: string): Promise<string> {
  // Loaded when the first page is read: most sessions never read one.
  const { convert } = await import('html-to-text');
  return convert(html, {
    wordwrap: false,
    limits: { maxInputLength: 5_000_000, maxDepth: 200 },
    selectors: [
      ...['script', 'style', 'nav', 'svg', 'noscript', 'iframe'].map((selector) => ({
        selector,
        format: 'skip',
      })),
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { ignoreHref: false, hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
    ],
  });
}

function isTextType(type: string, body: Buffer): boolean {
  if (type === '') return !body.subarray(0, 1024).includes(0);
  if (type.startsWith('text/')) return true;
  return /^application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|ecmascript|toml|x-ndjson|x-sh|sql|graphql)$/.test(
    type,
  );
}

function charsetOfHtml(body: Buffer): string | undefined {
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(
    body.subarray(0, 2048).toString('latin1'),
  )?.[1];
}

function decode(body: Buffer, charset: string | undefined): string {
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder('utf-8').decode(body);
    throw error;
  }
}
