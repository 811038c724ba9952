import { format, type Strings } from '../strings.ts';
import { highlight } from './highlight.ts';
import { sanitize } from './sanitize.ts';

/** What a code block needs of its surroundings. */
export type CodeHost = { readonly strings: Strings; readonly copy: (text: string) => void };

/** Gives the code blocks of `root` a bar with language and Copy and, once `final`, colours. */
export function dressCodeBlocks(root: ParentNode, host: CodeHost, final: boolean): void {
  for (const pre of root.querySelectorAll('pre')) {
    const code = pre.querySelector('code');
    if (code === null) continue;
    const language = /(?:^|\s)language-(\S+)/.exec(code.className)?.[1] ?? '';
    if (final) colour(code, language);
    const block = document.createElement('div');
    block.className = 'code-block';
    pre.replaceWith(block);
    pre.tabIndex = 0;
    pre.setAttribute('role', 'group');
    pre.setAttribute('aria-label', format(host.strings.codeBlock, language || 'text'));
    block.append(bar(code, language, host), pre);
  }
}

function colour(code: HTMLElement, language: string): void {
  const html = highlight(code.textContent ?? '', language);
  if (html !== null) code.replaceChildren(sanitize(html));
}

function bar(code: HTMLElement, language: string, host: CodeHost): HTMLElement {
  const name = document.createElement('span');
  name.className = 'code-language';
  name.textContent = language;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'icon-button';
  button.title = host.strings.copyCode;
  button.setAttribute('aria-label', host.strings.copyCode);
  const icon = document.createElement('span');
  icon.className = 'codicon codicon-copy';
  icon.setAttribute('aria-hidden', 'true');
  button.append(icon);
  button.addEventListener('click', () => {
    host.copy((code.textContent ?? '').replace(/\n$/, ''));
    icon.className = 'codicon codicon-check';
    button.setAttribute('aria-label', host.strings.copied);
    setTimeout(() => {
      icon.className = 'codicon codicon-copy';
      button.setAttribute('aria-label', host.strings.copyCode);
    }, 1500);
  });
  const element = document.createElement('div');
  element.className = 'code-bar';
  element.append(name, button);
  return element;
}
