import { type HostId, OWN_HOST } from '../hosts/host.ts';

/** The scheme of transcript documents. */
export const TRANSCRIPT_SCHEME = 'agent-session';

const MAX_TITLE = 60;

/**
 * What the paths of an added host's transcripts begin with, so that each host's language client finds its own; empty
 * for the window's own host. The server knows nothing of it.
 */
export function hostPrefix(hostId: HostId): string {
  return hostId === OWN_HOST ? '' : `/@${encodeURIComponent(hostId)}`;
}

/** The host whose transcript a path names. */
export function hostOfPath(path: string): HostId {
  const id = /^\/@([^/]+)\//.exec(path)?.[1];
  return id === undefined ? OWN_HOST : decodeURIComponent(id);
}

/** The path of a session's transcript: its id, and its title as a file name that the editor shows on the tab. */
export function transcriptPath(sessionId: string, title: string): string {
  const name = title
    .replace(/[/\\?#%*:|"<>\p{Cc}\p{Cs}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const short = [...name].slice(0, MAX_TITLE).join('').trim();
  return `/${encodeURIComponent(sessionId)}/${short === '' || /^\.+$/.test(short) ? 'Session' : short}.md`;
}
