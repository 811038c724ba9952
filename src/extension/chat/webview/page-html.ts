import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { chatHtml } from './html.ts';

/** A page of ours: `name.js` and `name.css` of the media folder, with a title and what stands there meanwhile. */
export function pageHtml(
  webview: vscode.Webview,
  media: vscode.Uri,
  page: { readonly name: string; readonly title: string; readonly loading?: string },
): string {
  const { name, ...words } = page;
  const uri = (file: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(media, file)).toString();
  return chatHtml({
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('hex'),
    script: uri(`${name}.js`),
    style: uri(`${name}.css`),
    icons: uri('codicon.css'),
    language: vscode.env.language,
    ...words,
  });
}
