import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatSendMode } from '../../../../src/protocol/chat.ts';
import { type Draft, EMPTY_DRAFT } from '../../bridge/drafts.ts';
import { withCompose, withoutSent } from '../../composer/merge-draft.ts';
import type { ViewState } from '../../state/view-state.ts';
import { useServices } from '../shared/context.ts';

type Outgoing = {
  readonly requestId: number;
  readonly sessionId: string | null;
  readonly draft: Draft;
};

type DraftControl = {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly send: (mode: ChatSendMode) => void;
};

let nextRequest = Date.now();

/** The session's draft: restored, kept at each change, and cleared once it was sent without an error. */
export function useDraft(view: ViewState): DraftControl {
  const { drafts, store, post } = useServices();
  const { sessionId } = view.status;
  const [, redraw] = useState(0);
  const outgoing = useRef<Outgoing | null>(null);
  const draft = drafts.draft(sessionId);
  const set = (of: string | null, next: Draft): void => {
    drafts.setDraft(of, next);
    redraw((count) => count + 1);
  };

  useEffect(() => {
    const sent = outgoing.current;
    if (sent === null || view.send.done !== sent.requestId) return;
    outgoing.current = null;
    if (view.send.error !== null) return;
    set(sent.sessionId, withoutSent(drafts.draft(sent.sessionId), sent.draft));
    drafts.flush();
  }, [view.send.seq]);

  // What was typed before there was a session belongs to the one that came.
  const shown = useRef(sessionId);
  useEffect(() => {
    const before = shown.current;
    shown.current = sessionId;
    if (before !== null || sessionId === null || isBlank(drafts.draft(null))) return;
    if (!isBlank(drafts.draft(sessionId)) || outgoing.current !== null) return;
    set(sessionId, drafts.draft(null));
    set(null, EMPTY_DRAFT);
    drafts.flush();
  }, [sessionId]);

  useEffect(() => {
    if (view.compose !== null) set(sessionId, withCompose(drafts.draft(sessionId), view.compose));
  }, [view.compose?.seq]);

  return {
    draft,
    change: (part) => set(sessionId, { ...drafts.draft(sessionId), ...part }),
    send: (mode) => {
      const now = drafts.draft(sessionId);
      if (store.get().send.pending !== null || isBlank(now)) return;
      nextRequest += 1;
      outgoing.current = { requestId: nextRequest, sessionId, draft: now };
      drafts.flush();
      store.dispatch({ type: 'local_send', requestId: nextRequest });
      post({ type: 'send', requestId: nextRequest, ...now, mode });
    },
  };
}

/** True where there is nothing to send. */
export function isBlank(draft: Draft): boolean {
  return draft.text.trim() === '' && draft.images.length === 0;
}
