import type { ChatCompletion, ToChat } from '../../../src/protocol/chat.ts';
import {
  type Check,
  isBoolean,
  isNumber,
  isRecord,
  isString,
  listOf,
  oneOf,
  optional,
  shape,
} from './checks.ts';
import { isAttachment, isGate, isItem } from './parse-parts.ts';
import { isStatus } from './parse-status.ts';

type MessageOf<K extends ToChat['type']> = Extract<ToChat, { type: K }>;

const isCompletion: Check<ChatCompletion> = (value): value is ChatCompletion =>
  isAttachment(value) && 'detail' in value && isString(value.detail);

const CHECKS: { readonly [K in ToChat['type']]: Check<MessageOf<K>> } = {
  reset: shape<MessageOf<'reset'>>({
    type: oneOf('reset'),
    status: isStatus,
    items: listOf(isItem),
    hasBefore: isBoolean,
    gates: listOf(isGate),
    strings: (value): value is MessageOf<'reset'>['strings'] =>
      isRecord(value) && Object.values(value).every(isString),
  }),
  upsert: shape<MessageOf<'upsert'>>({ type: oneOf('upsert'), items: listOf(isItem) }),
  prepend: shape<MessageOf<'prepend'>>({
    type: oneOf('prepend'),
    items: listOf(isItem),
    hasBefore: isBoolean,
  }),
  append: shape<MessageOf<'append'>>({
    type: oneOf('append'),
    id: isString,
    field: oneOf('text', 'output'),
    offset: isNumber,
    text: isString,
  }),
  remove: shape<MessageOf<'remove'>>({ type: oneOf('remove'), ids: listOf(isString) }),
  gates: shape<MessageOf<'gates'>>({ type: oneOf('gates'), gates: listOf(isGate) }),
  status: shape<MessageOf<'status'>>({ type: oneOf('status'), status: isStatus }),
  completions: shape<MessageOf<'completions'>>({
    type: oneOf('completions'),
    requestId: isNumber,
    items: listOf(isCompletion),
  }),
  compose: shape<MessageOf<'compose'>>({
    type: oneOf('compose'),
    text: optional(isString),
    takesBack: optional(isString),
    attachments: optional(listOf(isAttachment)),
    focus: isBoolean,
  }),
  sent: shape<MessageOf<'sent'>>({
    type: oneOf('sent'),
    requestId: isNumber,
    error: optional(isString),
  }),
  answer_failed: shape<MessageOf<'answer_failed'>>({
    type: oneOf('answer_failed'),
    gateId: isString,
    error: isString,
  }),
  delegate_rows: shape<MessageOf<'delegate_rows'>>({
    type: oneOf('delegate_rows'),
    loopId: isString,
    items: listOf(isItem),
    more: isBoolean,
  }),
  delegate_upsert: shape<MessageOf<'delegate_upsert'>>({
    type: oneOf('delegate_upsert'),
    loopId: isString,
    items: listOf(isItem),
  }),
  delegate_append: shape<MessageOf<'delegate_append'>>({
    type: oneOf('delegate_append'),
    loopId: isString,
    id: isString,
    field: oneOf('text', 'output'),
    offset: isNumber,
    text: isString,
  }),
  delegate_closed: shape<MessageOf<'delegate_closed'>>({
    type: oneOf('delegate_closed'),
    loopId: isString,
    error: optional(isString),
  }),
  reveal: shape<MessageOf<'reveal'>>({ type: oneOf('reveal'), id: isString }),
};

function isKnownType(type: unknown): type is ToChat['type'] {
  return typeof type === 'string' && Object.hasOwn(CHECKS, type);
}

/** The message, or null where it is none of ours or malformed. */
export function parseMessage(value: unknown): ToChat | null {
  if (!isRecord(value) || !isKnownType(value['type'])) return null;
  const check: Check<ToChat> = CHECKS[value['type']];
  return check(value) ? value : null;
}
