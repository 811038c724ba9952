import type {
  FileControls,
  HistoryControls,
  HostControls,
} from '../../../src/core/host/controls/api.ts';
import { DurableDesk } from '../../../src/core/host/controls/durable-controls.ts';
import { ComposedControls, ToldReceipts } from '../../../src/core/host/controls/host-controls.ts';
import { InjectDesk } from '../../../src/core/host/controls/inject-controls.ts';
import { OptionDesk } from '../../../src/core/host/controls/option-controls.ts';
import { QueueDesk } from '../../../src/core/host/controls/queue-controls.ts';
import { ReceiptList } from '../../../src/core/host/controls/receipts/receipt-list.ts';
import { ReceiptWriter } from '../../../src/core/host/controls/receipts/receipted.ts';
import type { ControlEvent } from '../../../src/core/session/control-events.ts';
import type { Stored } from '../../../src/core/session/events.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import type { ControlOutcome } from '../../../src/protocol/controls.ts';
import type { FakeSession } from './fake-session.ts';

/** What a fake host's controls stand on. */
export type FakeControlParts = {
  readonly live: (sessionId: string) => FakeSession | undefined;
  readonly isStored: (sessionId: string) => boolean;
  /** Tests answer what they need; what is missing rejects. */
  readonly history: Partial<HistoryControls>;
  readonly files: Partial<FileControls>;
};

/** The real composition of controls over sessions without an engine. */
export function fakeControls(parts: FakeControlParts): {
  readonly controls: HostControls;
  /** Every receipt, oldest first. */
  readonly kept: ControlOutcome[];
  readonly writer: ReceiptWriter;
} {
  const kept: ControlOutcome[] = [];
  const records = new Map<string | null, Stored<ControlEvent>[]>();
  const told = new ToldReceipts({
    keep: async (receipt) => {
      kept.push(receipt);
      const sessionId = parts.isStored(receipt.session_id) ? receipt.session_id : null;
      const stream = records.get(sessionId) ?? [];
      records.set(sessionId, stream);
      const seq = stream.length + 1;
      const event = { type: 'control_outcome', receipt } as const;
      stream.push({
        sessionId: '' as SessionId,
        seq,
        at: seq,
        event,
        cause: { command_ids: [] },
        hash: `receipt-${seq}`,
      });
      parts.live(receipt.session_id)?.control(event);
    },
  });
  let minted = 0;
  const ids = { unique: () => `control-${minted++}`, secret: () => 'secret' };
  const writer = new ReceiptWriter(told, ids);
  const sessions = {
    live: (sessionId: string) => {
      const session = parts.live(sessionId);
      return session && { entries: session, isActive: session.isActive };
    },
    delegates: () => [],
    isStored: async (sessionId: string) => parts.isStored(sessionId),
  };
  const controls = new ComposedControls({
    injects: new InjectDesk(sessions, writer, ids),
    queue: new QueueDesk(sessions, writer, async (sessionId) =>
      parts.isStored(sessionId) ? { paused: null, items: [] } : null,
    ),
    options: new OptionDesk(parts.live, writer),
    history: scripted(parts.history),
    files: scripted(parts.files),
    durable: new DurableDesk({
      live: (sessionId) => parts.live(sessionId)?.durable,
      isStored: sessions.isStored,
      storedLoops: async () => [],
      commandIn: async () => null,
      receipts: writer,
    }),
    receipts: writer,
    list: new ReceiptList({
      isStored: sessions.isStored,
      readControl: async (sessionId, { after = 0, before = Infinity, limit, newestFirst }) => {
        const all = (records.get(sessionId) ?? []).filter(({ seq }) => seq > after && seq < before);
        return (newestFirst ? all.toReversed() : all).slice(0, limit);
      },
    }),
    told,
  });
  return { controls, kept, writer };
}

/** Looks a method up when it is called, so that a test may set it later. */
function scripted<T extends object>(some: Partial<T>): T {
  return new Proxy(some, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      (() => Promise.reject(new Error(`The test did not script ${String(name)}`))),
  }) as T;
}
