import type { Token } from 'markdown-it';
import { parseMarkdown } from './render.ts';

/** A Markdown text as it is read aloud: its words, without marks, link targets and line breaks. */
export function plainText(markdown: string): string {
  return parseMarkdown(markdown).map(wordsOf).join('').replace(/\s+/g, ' ').trim();
}

function wordsOf(token: Token): string {
  switch (token.type) {
    case 'inline':
      return `${(token.children ?? []).map(wordsOf).join('')} `;
    case 'softbreak':
    case 'hardbreak':
      return ' ';
    case 'fence':
    case 'code_block':
      return `${token.content} `;
    default:
      return token.content;
  }
}
