import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TranscriptLink } from './projection/assemble.ts';

/** The scheme of transcript documents. */
export const TRANSCRIPT_SCHEME = 'agent-session';

/** Foreign text names these URIs, so none may do more than open something. */
const OPENABLE = new Set(['http:', 'https:', 'file:']);

/** The session of `agent-session:/<sessionId>/<title>.md`, or null if it is none. */
export function sessionOf(uri: string): string | null {
  const match = /^agent-session:\/{1,3}([^/?#]+)\/[^/?#]*$/.exec(uri);
  if (!match?.[1]) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** The URI that a link opens, or null if it must not be opened. `uri` is the transcript's own. */
export function linkUri(uri: string, target: TranscriptLink['target']): string | null {
  switch (target.kind) {
    case 'line':
      return `${uri.replace(/#.*$/, '')}#L${target.line + 1}`;
    case 'uri':
      return URL.canParse(target.uri) && OPENABLE.has(new URL(target.uri).protocol)
        ? target.uri
        : null;
    case 'file': {
      if (!isAbsolute(target.path)) return null;
      const file = pathToFileURL(target.path).href;
      return target.line === null ? file : `${file}#L${target.line}`;
    }
  }
}
