import type { ChatStatus } from '../../../src/protocol/chat.ts';
import type { ChatCompany } from '../../../src/protocol/chat-company.ts';
import type { ChatTalk } from '../../../src/protocol/chat-delegates.ts';
import type { ChatFault } from '../../../src/protocol/chat-fault.ts';
import type { ChatPending } from '../../../src/protocol/chat-pending.ts';
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

type Option = ChatStatus['options'][number];

function isOption(value: unknown): value is Option {
  if (!isRecord(value) || !isString(value['id']) || !isString(value['name'])) return false;
  if (value['type'] === 'boolean') return isBoolean(value['currentValue']);
  return (
    value['type'] === 'select' && isString(value['currentValue']) && isChoices(value['options'])
  );
}

const isChoice = (value: unknown): value is object =>
  isRecord(value) && isString(value['value']) && isString(value['name']);

const isChoices = anyOf<readonly object[]>(
  listOf(isChoice),
  listOf(
    (value: unknown): value is object =>
      isRecord(value) && isString(value['name']) && listOf(isChoice)(value['options']),
  ),
);

export const isStatus: Check<ChatStatus> = shape<ChatStatus>({
  activity: oneOf(
    'none',
    'starting',
    'idle',
    'running',
    'waiting',
    'stopping',
    'offline',
    'untrusted',
    'no_folder',
  ),
  offlineReason: optional(isString),
  hostName: optional(isString),
  sessionId: nullable(isString),
  turnId: optional(nullable(isString)),
  title: isString,
  cwd: isString,
  options: listOf(isOption),
  commands: listOf(
    shape<ChatStatus['commands'][number]>({
      name: isString,
      description: isString,
      hint: optional(isString),
    }),
  ),
  usage: nullable(
    shape<NonNullable<ChatStatus['usage']>>({
      used: isNumber,
      size: isNumber,
      cost: optional(isString),
    }),
  ),
  pending: listOf(
    shape<ChatPending>({
      id: isString,
      mode: oneOf('steer', 'interrupt_immediate', 'queue', 'prompt'),
      text: isString,
      attached: listOf(isString),
      state: oneOf('pending', 'behind_approval', 'given_back'),
      editable: isBoolean,
    }),
  ),
  nextTurns: shape<ChatStatus['nextTurns']>({
    paused: nullable(isString),
    held: optional(isBoolean),
    items: listOf(
      shape<ChatStatus['nextTurns']['items'][number]>({
        id: isString,
        text: isString,
        attached: listOf(isString),
      }),
    ),
  }),
  runningSend: oneOf('prompt', 'steer', 'interrupt', 'next', 'note'),
  staged: nullable(
    shape<NonNullable<ChatStatus['staged']>>({
      files: isNumber,
      paths: optional(listOf(isString)),
      on: isBoolean,
    }),
  ),
  canRedo: isBoolean,
  fault: optional(shape<ChatFault>({ message: isString, unsure: isBoolean })),
  compacting: optional(isBoolean),
  company: optional(shape<ChatCompany>({ others: isString, reading: optional(isString) })),
  queued: listOf(shape<ChatStatus['queued'][number]>({ id: isString, text: isString })),
  rehearsal: isBoolean,
  talksTo: optional(shape<ChatTalk>({ loopId: isString, name: isString })),
  delegatesAtWork: optional(listOf(isString)),
});
