import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, extname } from 'node:path';
import { BODY_CLASSES, type ThemeName, themeSheet } from './themes.ts';

const MEDIA = new URL('../../../dist/media/', import.meta.url);
const NONCE = 'c2VhdHJpYWw';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.ttf': 'font/ttf',
  '.map': 'application/json',
};

/** Serves the built webview in a page as the extension makes it: the same policy, the same elements. */
export type MediaServer = {
  readonly url: (theme: ThemeName, bodyClass?: string, page?: PageName) => string;
  readonly close: () => Promise<void>;
};

/** The pages that the extension serves. */
export type PageName = 'chat' | 'receipts';

function page(origin: string, theme: ThemeName, bodyClass: string, name: PageName): string {
  const policy = [
    `default-src 'none'`,
    `img-src ${origin} data:`,
    `style-src ${origin}`,
    `font-src ${origin}`,
    `script-src 'nonce-${NONCE}'`,
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/theme-${theme}.css">
<link rel="stylesheet" id="vscode-codicon-stylesheet" href="/codicon.css">
<link rel="stylesheet" href="/${name}.css">
</head>
<body class="${BODY_CLASSES[theme]} ${bodyClass}">
<div id="root"></div>
<script type="module" nonce="${NONCE}" src="/${name}.js"></script>
</body>
</html>`;
}

export async function startMediaServer(): Promise<MediaServer> {
  let origin = '';
  const answer = async (path: string): Promise<{ type: string; body: string | Buffer }> => {
    const url = new URL(path, origin);
    if (url.pathname === '/') {
      const theme = (url.searchParams.get('theme') ?? 'dark') as ThemeName;
      const name = url.searchParams.get('page') === 'receipts' ? 'receipts' : 'chat';
      const body = page(origin, theme, url.searchParams.get('class') ?? '', name);
      return { type: 'text/html', body };
    }
    const themed = /^\/theme-([a-z-]+)\.css$/.exec(url.pathname)?.[1];
    if (themed !== undefined) return { type: 'text/css', body: themeSheet(themed as ThemeName) };
    const body = await readFile(new URL(basename(url.pathname), MEDIA));
    return { type: TYPES[extname(url.pathname)] ?? 'application/octet-stream', body };
  };
  const server = createServer((request, response) => {
    answer(request.url ?? '/').then(
      ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  origin = `http://127.0.0.1:${address.port}`;
  return {
    url: (theme, bodyClass = '', name = 'chat') =>
      `${origin}/?theme=${theme}&class=${encodeURIComponent(bodyClass)}&page=${name}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
