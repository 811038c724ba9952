import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SessionId } from '../session/words.ts';

/** Where the checkpoints of one session lie below those of all. */
export function sessionFolder(folder: string, sessionId: SessionId): string {
  return path.join(folder, folderName(sessionId));
}

/** The note of a restore that is not settled, in a session's folder. */
export function noteFile(sessionsFolder: string): string {
  return path.join(sessionsFolder, 'restoring.json');
}

/** The note of the newest turn that had an effect, in a session's folder. */
export function turnNoteFile(sessionsFolder: string): string {
  return path.join(sessionsFolder, 'turn.json');
}

/** Ids are made by the host; one that is no plain name must still not lead elsewhere. */
function folderName(sessionId: SessionId): string {
  if (/^[0-9a-zA-Z][0-9a-zA-Z_-]{0,99}$/.test(sessionId)) return sessionId;
  return `id-${createHash('sha256').update(sessionId).digest('hex')}`;
}
