import type {
  ChatAttachment,
  ChatDiff,
  ChatGate,
  ChatImage,
  ChatItem,
  ChatTool,
} from '../../../src/protocol/chat.ts';
import type { ChatDelegate } from '../../../src/protocol/chat-delegates.ts';
import {
  anyOf,
  type Check,
  isBoolean,
  isNumber,
  isRecord,
  isString,
  listOf,
  nullable,
  oneOf,
  optional,
  shape,
} from './checks.ts';

type ItemOf<K extends ChatItem['kind']> = Extract<ChatItem, { kind: K }>;
type GateOf<K extends ChatGate['kind']> = Extract<ChatGate, { kind: K }>;

export const isImage: Check<ChatImage> = shape<ChatImage>({
  mimeType: oneOf('image/png', 'image/jpeg', 'image/gif', 'image/webp'),
  data: isString,
  name: optional(isString),
});

export const isAttachment: Check<ChatAttachment> = shape<ChatAttachment>({
  name: isString,
  uri: isString,
  kind: oneOf('file', 'folder', 'selection', 'diagnostics', 'image'),
  range: optional(isString),
});

const isDiff: Check<ChatDiff> = shape<ChatDiff>({
  path: isString,
  added: isNumber,
  removed: isNumber,
  isNew: isBoolean,
  lines: listOf(
    shape<ChatDiff['lines'][number]>({ mark: oneOf(' ', '+', '-', '@'), text: isString }),
  ),
  cut: isBoolean,
});

const isDelegate: Check<ChatDelegate> = shape<ChatDelegate>({
  loopId: isString,
  name: isString,
  state: oneOf('running', 'completed', 'failed', 'cancelled', 'interrupted'),
  background: isBoolean,
  prompt: isString,
  resultRow: optional(isString),
});

const isTool: Check<ChatTool> = shape<ChatTool>({
  kind: oneOf('tool'),
  id: isString,
  title: isString,
  name: isString,
  // A kind this page does not know is drawn as "other".
  toolKind: isString as Check<ChatTool['toolKind']>,
  status: oneOf(
    'pending',
    'in_progress',
    'completed',
    'failed',
    'cancelled',
    'interrupted',
    'denied',
    'outcome_unknown',
  ),
  input: isString,
  locations: listOf(
    shape<ChatTool['locations'][number]>({
      path: isString,
      line: optional(nullable(isNumber)),
      _meta: (value): value is null => value === undefined || value === null || isRecord(value),
    }),
  ),
  diffs: listOf(isDiff),
  output: isString,
  outputCut: isNumber,
  images: (value): value is readonly ChatImage[] => Array.isArray(value),
  staged: optional(isBoolean),
  delegate: optional(isDelegate),
});

const isInjectMode = oneOf('steer', 'interrupt_immediate', 'queue');

export const isItem: Check<ChatItem> = anyOf<ChatItem>(
  shape<ItemOf<'user'>>({
    kind: oneOf('user'),
    id: isString,
    at: isNumber,
    text: isString,
    attachments: listOf(isAttachment),
    images: optional(listOf(isImage)),
    inject: optional(
      shape<NonNullable<ItemOf<'user'>['inject']>>({ mode: isInjectMode, seam: isString }),
    ),
    messageId: optional(isString),
    checkpoint: optional(
      shape<NonNullable<ItemOf<'user'>['checkpoint']>>({
        checkpointId: isString,
        files: isNumber,
        onStack: isBoolean,
      }),
    ),
  }),
  shape<ItemOf<'judge'>>({
    kind: oneOf('judge'),
    id: isString,
    judge: isString,
    verdict: oneOf('done', 'vetoed', 'failed'),
    reason: isString,
    correction: nullable(isString),
  }),
  shape<ItemOf<'assistant'>>({
    kind: oneOf('assistant'),
    id: isString,
    text: isString,
    streaming: isBoolean,
  }),
  shape<ItemOf<'thought'>>({
    kind: oneOf('thought'),
    id: isString,
    text: isString,
    streaming: isBoolean,
  }),
  isTool,
  shape<ItemOf<'hand_back'>>({
    kind: oneOf('hand_back'),
    id: isString,
    name: isString,
    text: isString,
    toolCallId: optional(isString),
  }),
  shape<ItemOf<'plan'>>({
    kind: oneOf('plan'),
    id: isString,
    entries: listOf(
      shape<ItemOf<'plan'>['entries'][number]>({
        text: isString,
        status: oneOf('pending', 'in_progress', 'completed'),
      }),
    ),
  }),
  shape<ItemOf<'notice'>>({
    kind: oneOf('notice'),
    id: isString,
    severity: oneOf('info', 'warning', 'error'),
    title: isString,
    description: isString,
  }),
  shape<ItemOf<'answer'>>({
    kind: oneOf('answer'),
    id: isString,
    text: isString,
    allowed: isBoolean,
  }),
  shape<ItemOf<'compaction'>>({
    kind: oneOf('compaction'),
    id: isString,
    state: oneOf('running', 'done', 'failed'),
    before: nullable(isNumber),
    after: nullable(isNumber),
    summary: isString,
    reason: isString,
  }),
  shape<ItemOf<'turn_end'>>({
    kind: oneOf('turn_end'),
    id: isString,
    stopReason: isString,
    terminal: isString,
    reason: isString,
    seconds: nullable(isNumber),
  }),
);

export const isGate: Check<ChatGate> = anyOf<ChatGate>(
  shape<GateOf<'permission'>>({
    kind: oneOf('permission'),
    gateId: isString,
    loopId: optional(isString),
    toolCallId: isString,
    title: isString,
    reason: isString,
    details: listOf(isString),
    diffs: listOf(isDiff),
    options: listOf(
      shape<GateOf<'permission'>['options'][number]>({
        optionId: isString,
        name: isString,
        kind: oneOf('allow_once', 'allow_always', 'reject_once', 'reject_always'),
      }),
    ),
  }),
  shape<GateOf<'ask'>>({
    kind: oneOf('ask'),
    gateId: isString,
    loopId: optional(isString),
    message: isString,
    schema: isRecord as Check<GateOf<'ask'>['schema']>,
  }),
  shape<GateOf<'auth'>>({
    kind: oneOf('auth'),
    gateId: isString,
    target: isString,
    message: isString,
    url: optional(isString),
    waitsFor: optional(oneOf('editor')),
  }),
);
