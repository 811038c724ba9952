import { describe, expect, it } from 'vitest';
import { fileDiff } from '../../../../src/extension/chat/model/file-diff.ts';
import { parseFromChat } from '../../../../src/extension/chat/webview/from-chat.ts';
import { chatHtml } from '../../../../src/extension/chat/webview/html.ts';

describe('messages of the webview', () => {
  it('are taken in their known forms only', () => {
    const send = {
      type: 'send',
      requestId: 1,
      text: 'x',
      attachments: [{ name: 'a', uri: 'file:///a', kind: 'file' }],
      images: [],
    };
    expect(parseFromChat(send)).toEqual(send);
    expect(parseFromChat({ type: 'stop' })).toEqual({ type: 'stop' });
    for (const bad of [
      null,
      'stop',
      { type: 'eval', code: '1' },
      { type: 'command', name: 'workbench.action.quit' },
      { type: 'answer' },
      { ...send, images: [{ mimeType: 'image/svg+xml', data: '' }] },
    ])
      expect(parseFromChat(bad)).toBeNull();
  });
});

describe('the page', () => {
  it('allows its own script by nonce and nothing else', () => {
    const html = chatHtml({
      cspSource: 'vscode-webview:',
      nonce: 'n0nce',
      script: 'chat.js?"><script>',
      style: 'chat.css',
      icons: 'codicon.css',
      language: 'de',
      title: 'Chat',
    });
    const policy = /content="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'nonce-n0nce'");
    expect(policy).not.toContain('unsafe');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('<html lang="de">');
  });
});

describe('a change to a file', () => {
  it('has its lines and counts', () => {
    const diff = fileDiff('/w/a', 'one\ntwo\n', 'one\n2\n');
    expect(diff).toMatchObject({ added: 1, removed: 1, isNew: false, cut: false });
    expect(diff.lines.map(({ mark, text }) => mark + text)).toEqual([
      '@@@ -1,2 +1,2 @@',
      ' one',
      '-two',
      '+2',
    ]);
  });

  it('is cut after 400 lines, and says so', () => {
    const after = Array.from({ length: 1_000 }, (_, at) => `l${at}`).join('\n');
    const diff = fileDiff('/w/a', null, after);
    expect(diff).toMatchObject({ isNew: true, added: 1_000, cut: true });
    expect(diff.lines).toHaveLength(400);
  });
});
