// Finds what `l10n.t` translates, by the text of the source: TypeScript 7 has no parser to ask.

const CALL = /\bl10n\.t\(\s*/g;
const STRING = /^(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)\s*[,)\]}]/s;
const ESCAPES = { n: '\n', r: '\r', t: '\t' };

function stringAt(text) {
  const match = STRING.exec(text);
  if (match === null) return undefined;
  const raw = match[1] ?? match[2] ?? match[3];
  return raw
    .replace(/\\u\{?([0-9a-fA-F]+)\}?/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/\\(.)/gs, (_, character) => ESCAPES[character] ?? character);
}

function propertyAt(text, name) {
  const match = new RegExp(`\\b${name}:\\s*\\[?\\s*`).exec(text);
  return match === null ? undefined : stringAt(text.slice(match.index + match[0].length));
}

/** VS Code's key for a text: the text, and after a slash the comment for translators. */
function keyAt(text) {
  if (!text.startsWith('{')) return stringAt(text);
  const call = text.slice(0, text.search(/\}\s*\)/) + 1);
  const message = propertyAt(call, 'message');
  const comment = propertyAt(call, 'comment');
  return message !== undefined && comment !== undefined ? `${message}/${comment}` : message;
}

/** The keys that translations must have, and the calls whose text no translation can follow. */
export function localisedTexts(sources) {
  const keys = new Set();
  const problems = [];
  for (const source of sources) {
    for (const call of source.matchAll(CALL)) {
      const text = source.slice(call.index + call[0].length);
      const key = keyAt(text);
      if (key !== undefined) keys.add(key);
      else problems.push(`l10n.t needs one whole literal: l10n.t(${text.split('\n', 1)[0]}`);
    }
  }
  return { keys: [...keys], problems };
}
