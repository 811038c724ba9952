import type { ChatAttachment, ChatImage } from '../../../src/protocol/chat.ts';
import { isRecord, isString } from './checks.ts';
import { isAttachment, isImage } from './parse-parts.ts';
import type { WebviewApi } from './vscode-api.ts';

/** What a person has typed into the composer and not sent. */
export type Draft = {
  readonly text: string;
  readonly attachments: readonly ChatAttachment[];
  readonly images: readonly ChatImage[];
};

/** Where a person was reading: a row and how far its top is above the viewport's; null at the end. */
export type ScrollPlace = { readonly id: string; readonly offset: number } | null;

type Kept = { readonly draft: Draft; readonly scroll: ScrollPlace };

export const EMPTY_DRAFT: Draft = { text: '', attachments: [], images: [] };

const VERSION = 1;
const SESSIONS_KEPT = 50;
/** Larger pictures are not written into the page's state at each key press; they live as long as the page. */
const IMAGES_KEPT = 2 * 1024 * 1024;
const WRITE_AFTER_MS = 200;

/** Draft and scroll of each session, kept in the webview's own state so that a thrown-away page loses nothing. */
export type Drafts = {
  readonly lastSession: () => string | null;
  readonly setLastSession: (sessionId: string | null) => void;
  readonly draft: (sessionId: string | null) => Draft;
  readonly setDraft: (sessionId: string | null, draft: Draft) => void;
  readonly scroll: (sessionId: string | null) => ScrollPlace;
  readonly setScroll: (sessionId: string | null, place: ScrollPlace) => void;
  /** Writes what waits now. */
  readonly flush: () => void;
};

export function createDrafts(api: Pick<WebviewApi, 'getState' | 'setState'>): Drafts {
  const restored = restore(api.getState());
  const sessions = restored.sessions;
  let last = restored.last;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    api.setState({
      version: VERSION,
      last,
      sessions: [...sessions]
        .slice(-SESSIONS_KEPT)
        .map(([id, kept]) => ({ id, kept: storable(kept) })),
    });
  };
  const change = (sessionId: string | null, part: Partial<Kept>): void => {
    const key = sessionId ?? '';
    const before = sessions.get(key) ?? { draft: EMPTY_DRAFT, scroll: null };
    sessions.delete(key);
    sessions.set(key, { ...before, ...part });
    timer ??= setTimeout(flush, WRITE_AFTER_MS);
  };
  return {
    lastSession: () => last,
    setLastSession(sessionId) {
      if (last === sessionId) return;
      last = sessionId;
      flush();
    },
    draft: (sessionId) => sessions.get(sessionId ?? '')?.draft ?? EMPTY_DRAFT,
    setDraft: (sessionId, draft) => change(sessionId, { draft }),
    scroll: (sessionId) => sessions.get(sessionId ?? '')?.scroll ?? null,
    setScroll: (sessionId, scroll) => change(sessionId, { scroll }),
    flush: () => {
      if (timer !== undefined) flush();
    },
  };
}

function storable(kept: Kept): Kept {
  const size = kept.draft.images.reduce((sum, image) => sum + image.data.length, 0);
  return size <= IMAGES_KEPT ? kept : { ...kept, draft: { ...kept.draft, images: [] } };
}

function restore(state: unknown): {
  readonly last: string | null;
  readonly sessions: Map<string, Kept>;
} {
  const sessions = new Map<string, Kept>();
  if (!isRecord(state) || state['version'] !== VERSION || !Array.isArray(state['sessions'])) {
    return { last: null, sessions };
  }
  const entries: readonly unknown[] = state['sessions'];
  for (const entry of entries) {
    if (!isRecord(entry)) continue;
    const { id, kept } = entry;
    if (isString(id) && isRecord(kept)) {
      sessions.set(id, { draft: draftOf(kept['draft']), scroll: scrollOf(kept['scroll']) });
    }
  }
  return { last: isString(state['last']) ? state['last'] : null, sessions };
}

function draftOf(value: unknown): Draft {
  if (!isRecord(value)) return EMPTY_DRAFT;
  const { text, attachments, images } = value;
  return {
    text: isString(text) ? text : '',
    attachments: Array.isArray(attachments) ? attachments.filter(isAttachment) : [],
    images: Array.isArray(images) ? images.filter(isImage) : [],
  };
}

function scrollOf(value: unknown): ScrollPlace {
  if (!isRecord(value)) return null;
  const { id, offset } = value;
  return isString(id) && typeof offset === 'number' ? { id, offset } : null;
}
