import type { ContentBlock } from '../../../protocol/acp.ts';
import { toPlainText } from './prompt-content.ts';

const MAX_CHARACTERS = 60;

/** A session's title from its first prompt: its first line with words, cut at a word near 60 characters. */
export function titleFrom(blocks: readonly ContentBlock[]): string {
  const line = toPlainText(blocks)
    .split(/\r?\n/u)
    .map((text) => text.replaceAll(/\s+/gu, ' ').trim())
    .find((text) => text.length > 0);
  if (line === undefined) return 'Untitled session';
  const characters = [...line];
  if (characters.length <= MAX_CHARACTERS) return line;
  const cut = characters.slice(0, MAX_CHARACTERS).join('');
  const space = cut.lastIndexOf(' ');
  return `${(space > MAX_CHARACTERS / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** The title of a fork: its parent's with the branch's name, or with which fork it is. */
export function forkedTitle(title: string, branchName?: string): string {
  if (branchName !== undefined) return `${title} (${branchName})`;
  const [, base = title, count] = /^(.*) \(fork(?: (\d+))?\)$/u.exec(title) ?? [];
  if (base === title) return `${title} (fork)`;
  return `${base} (fork ${Number(count ?? 1) + 1})`;
}
