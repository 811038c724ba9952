const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&quot;': '"', '&amp;': '&' };

/** Text that can't end or begin a tag, and can stand in a double-quoted attribute. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** What `escapeXml` was given. */
export function unescapeXml(text: string): string {
  return text.replace(/&(?:lt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** The text as the only content of an element. */
export function element(name: string, text: string): string {
  return `<${name}>\n${escapeXml(text)}\n</${name}>`;
}

/** The text of the first element of that name that `element` made, or null. */
export function elementText(name: string, source: string): string | null {
  const begin = `<${name}>\n`;
  const start = source.indexOf(begin);
  if (start < 0) return null;
  const end = source.indexOf(`\n</${name}>`, start + begin.length - 1);
  return end < 0 ? null : unescapeXml(source.slice(start + begin.length, end));
}
