import type { Draft } from '../bridge/drafts.ts';
import type { ComposeRequest } from '../state/view-state.ts';

/** The draft with requested text and attachments added behind what is there. */
export function withCompose(kept: Draft, request: ComposeRequest): Draft {
  const isTakenBack = request.takesBack !== null && kept.text === request.takesBack;
  const draft = isTakenBack ? { ...kept, text: '' } : kept;
  const gap = draft.text === '' || request.text === '' || /\s$/.test(draft.text) ? '' : '\n';
  const known = new Set(draft.attachments.map(keyOf));
  return {
    ...draft,
    text: draft.text + gap + request.text,
    attachments: [
      ...draft.attachments,
      ...request.attachments.filter((attachment) => !known.has(keyOf(attachment))),
    ],
  };
}

/** What is left once `sent` went out: text typed and context added since. */
export function withoutSent(draft: Draft, sent: Draft): Draft {
  const text = draft.text.startsWith(sent.text)
    ? draft.text.slice(sent.text.length).trimStart()
    : draft.text;
  const gone = new Set(sent.attachments.map(keyOf));
  return {
    text,
    attachments: draft.attachments.filter((attachment) => !gone.has(keyOf(attachment))),
    images: draft.images.filter((image) => !sent.images.includes(image)),
  };
}

/** Two attachments with one key are the same. */
export function keyOf(attachment: Draft['attachments'][number]): string {
  return `${attachment.kind} ${attachment.uri} ${attachment.range ?? ''}`;
}
