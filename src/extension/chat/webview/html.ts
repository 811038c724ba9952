import { escapeXml } from '../../../base/xml-text.ts';

/** What the page of the chat is made from; all URIs are as the webview may load them. */
export type ChatPage = {
  readonly cspSource: string;
  readonly nonce: string;
  readonly script: string;
  readonly style: string;
  readonly icons: string;
  readonly language: string;
  readonly title: string;
  /** What stands there until the script draws; nothing without it. */
  readonly loading?: string;
};

/** The page of the chat webview: nothing may run but our own script, nothing may be fetched. */
export function chatHtml(page: ChatPage): string {
  const policy = [
    "default-src 'none'",
    `img-src ${page.cspSource} data:`,
    `style-src ${page.cspSource}`,
    `font-src ${page.cspSource}`,
    `script-src 'nonce-${page.nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escapeXml(page.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeXml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(page.title)}</title>
<link rel="stylesheet" id="vscode-codicon-stylesheet" href="${escapeXml(page.icons)}">
<link rel="stylesheet" href="${escapeXml(page.style)}">
</head>
<body>
<div id="root">${loadingHtml(page.loading)}</div>
<script type="module" nonce="${page.nonce}" src="${escapeXml(page.script)}"></script>
</body>
</html>`;
}

function loadingHtml(text: string | undefined): string {
  return text === undefined ? '' : `<p class="page-loading" role="status">${escapeXml(text)}</p>`;
}
