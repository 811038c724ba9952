import MarkdownIt, { type Env, type Token } from 'markdown-it';

/** A piece of Markdown that stands on its own: HTML not yet sanitised, and where its source begins. */
export type Block = { readonly html: string; readonly start: number };

/** Link targets defined so far (`[name]: url`), shared by the pieces of one text. */
export type LinkEnv = Env;

const md = new MarkdownIt({ html: false, linkify: true, breaks: false });

// A picture from elsewhere would tell a server that this text was read: it becomes a link.
md.renderer.rules['image'] = (tokens, index) => {
  const token = tokens[index];
  const source = String(token?.attrGet('src') ?? '');
  const label = md.utils.escapeHtml(token?.content || source);
  return /^data:image\/(png|jpeg|gif|webp);base64,/i.test(source)
    ? `<img src="${md.utils.escapeHtml(source)}" alt="${label}">`
    : `<a href="${md.utils.escapeHtml(source)}">${label}</a>`;
};

/** The parts of a Markdown text, in order. */
export function parseMarkdown(text: string): readonly Token[] {
  return md.parse(text, {});
}

/** The top-level blocks of a Markdown text. */
export function renderBlocks(text: string, env: LinkEnv): readonly Block[] {
  const tokens = md.parse(text, env);
  const lineStarts = startsOfLines(text);
  return topLevel(tokens).map((group) => ({
    html: md.renderer.render([...group], md.options, env),
    start: lineStarts[group[0]?.map?.[0] ?? 0] ?? 0,
  }));
}

function topLevel(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const groups: Token[][] = [];
  let depth = 0;
  for (const token of tokens) {
    if (depth === 0) groups.push([]);
    groups.at(-1)?.push(token);
    depth += token.nesting;
  }
  return groups;
}

function startsOfLines(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
