import type {
  ChainResult,
  ReceiptEntry,
  ReceiptFilter,
  ReceiptStringKey,
  ReceiptsState,
  ToReceipts,
  VerifyState,
} from '../../src/protocol/receipts-view.ts';
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
  shape,
} from '../chat/bridge/checks.ts';

const isStatus = oneOf('accepted', 'idempotent', 'rejected');

const isEntry: Check<ReceiptEntry> = shape<ReceiptEntry>({
  seq: isNumber,
  hash: isString,
  at: isNumber,
  controlId: isString,
  method: isString,
  asked: isString,
  status: isStatus,
  happened: isString,
  outcome: isString,
  refusal: nullable(
    shape<NonNullable<ReceiptEntry['refusal']>>({ words: isString, reason: isString }),
  ),
  who: isString,
  role: nullable(isString),
  door: isString,
  facts: listOf(shape<ReceiptEntry['facts'][number]>({ label: isString, value: isString })),
});

const isVerify: Check<VerifyState> = anyOf<VerifyState>(
  shape<Extract<VerifyState, { kind: 'none' }>>({ kind: oneOf('none') }),
  shape<Extract<VerifyState, { kind: 'running' }>>({ kind: oneOf('running') }),
  shape<Extract<VerifyState, { kind: 'done' }>>({
    kind: oneOf('done'),
    at: isNumber,
    chains: listOf(shape<ChainResult>({ name: isString, ok: isBoolean, text: isString })),
  }),
);

type Rest = Omit<ReceiptsState, 'entries'>;

const isRest: Check<Rest> = shape<Rest>({
  title: isString,
  stream: oneOf('session', 'host'),
  hasSession: isBoolean,
  filter: shape<ReceiptFilter>({ method: nullable(isString), status: nullable(isStatus) }),
  methods: listOf(shape<Rest['methods'][number]>({ value: isString, label: isString })),
  hasOlder: isBoolean,
  loading: isBoolean,
  problem: nullable(isString),
  verify: isVerify,
});

const isState = (value: unknown): value is ReceiptsState =>
  isRest(value) && listOf(isEntry)((value as Partial<ReceiptsState>).entries);

const isStrings = (value: unknown): value is Readonly<Record<ReceiptStringKey, string>> =>
  isRecord(value) && Object.values(value).every(isString);

const isMessage: Check<ToReceipts> = anyOf<ToReceipts>(
  shape<Extract<ToReceipts, { type: 'state' }>>({
    type: oneOf('state'),
    state: isState,
    strings: isStrings,
  }),
  shape<Extract<ToReceipts, { type: 'more' }>>({
    type: oneOf('more'),
    state: isRest,
    newer: listOf(isEntry),
    older: listOf(isEntry),
  }),
);

/** A message of the extension, or null if it is none that this page knows. */
export function parseToReceipts(value: unknown): ToReceipts | null {
  return isMessage(value) ? value : null;
}
