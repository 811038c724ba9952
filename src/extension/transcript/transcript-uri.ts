/** The scheme of transcript documents. */
export const TRANSCRIPT_SCHEME = 'agent-session';

const MAX_TITLE = 60;

/** The path of a session's transcript: its id, and its title as a file name that the editor shows on the tab. */
export function transcriptPath(sessionId: string, title: string): string {
  const name = title
    .replace(/[/\\?#%*:|"<>\p{Cc}\p{Cs}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const short = [...name].slice(0, MAX_TITLE).join('').trim();
  return `/${encodeURIComponent(sessionId)}/${short === '' || /^\.+$/.test(short) ? 'Session' : short}.md`;
}
