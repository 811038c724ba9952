import { Emitter, type Event } from '../../../base/emitter.ts';
import type { Control, ControlOutcome } from '../../../protocol/controls.ts';
import type { Refusal } from '../../session/control/refusal.ts';
import type { Client } from '../api.ts';
import type {
  ControlTarget,
  CutPoint,
  FileControls,
  HistoryControls,
  HostControls,
  InjectControls,
  OptionControls,
  QueueControls,
  ReceiptPage,
  ReceiptQuery,
  RestoreChoice,
} from './api.ts';
import type { DurableControls } from './durable-api.ts';
import type { ReceiptList } from './receipts/receipt-list.ts';
import type { ReceiptSink, ReceiptWriter } from './receipts/receipted.ts';

/** What the controls of a host are put together from. */
export type HostControlParts = {
  readonly injects: InjectControls;
  readonly queue: QueueControls;
  readonly options: OptionControls;
  readonly history: HistoryControls;
  readonly files: FileControls;
  readonly durable: DurableControls;
  readonly receipts: ReceiptWriter;
  readonly list: ReceiptList;
  readonly told: ToldReceipts;
};

/** Tells of every receipt once it is kept, also of those that belong to no session that is here. */
export class ToldReceipts implements ReceiptSink {
  readonly #sink: ReceiptSink;
  readonly #kept = new Emitter<ControlOutcome>();

  constructor(sink: ReceiptSink) {
    this.#sink = sink;
  }

  get onDidKeep(): Event<ControlOutcome> {
    return this.#kept.event;
  }

  async keep(receipt: ControlOutcome): Promise<void> {
    await this.#sink.keep(receipt);
    this.#kept.fire(receipt);
  }
}

/** All controls of a host under one face. */
export class ComposedControls implements HostControls {
  readonly #parts: HostControlParts;

  constructor(parts: HostControlParts) {
    this.#parts = parts;
  }

  get onDidKeepReceipt(): Event<ControlOutcome> {
    return this.#parts.told.onDidKeep;
  }

  refuse(
    method: Control,
    { sessionId, actor, ...names }: Parameters<HostControls['refuse']>[1],
    refusal: Refusal,
  ): Promise<void> {
    const target = { sessionId: sessionId ?? '', actor };
    const outcome = { outcome: refusal, status: 'rejected', reason: refusal } as const;
    return this.#parts.receipts.keep(method, target, outcome, names);
  }

  receipts(query: ReceiptQuery): Promise<ReceiptPage> {
    return this.#parts.list.page(query);
  }

  inject: InjectControls['inject'] = (target, request) =>
    this.#parts.injects.inject(target, request);

  revokeInject: InjectControls['revokeInject'] = (target, messageId) =>
    this.#parts.injects.revokeInject(target, messageId);

  replaceInject: InjectControls['replaceInject'] = (target, messageId, content) =>
    this.#parts.injects.replaceInject(target, messageId, content);

  pending: InjectControls['pending'] = (sessionId) => this.#parts.injects.pending(sessionId);

  remind: InjectControls['remind'] = (target, request) =>
    this.#parts.injects.remind(target, request);

  revokeReminder: InjectControls['revokeReminder'] = (target, reminderId) =>
    this.#parts.injects.revokeReminder(target, reminderId);

  cancelToolCall: InjectControls['cancelToolCall'] = (target, request) =>
    this.#parts.injects.cancelToolCall(target, request);

  changeQueue: QueueControls['changeQueue'] = (target, change) =>
    this.#parts.queue.changeQueue(target, change);

  nextTurns: QueueControls['nextTurns'] = (sessionId) => this.#parts.queue.nextTurns(sessionId);

  setOption: OptionControls['setOption'] = (target, request) =>
    this.#parts.options.setOption(target, request);

  rollback: HistoryControls['rollback'] = (target, request) =>
    this.#parts.history.rollback(target, request);

  redo: HistoryControls['redo'] = (target, request) => this.#parts.history.redo(target, request);

  truncate: HistoryControls['truncate'] = (
    target: ControlTarget,
    request: { readonly at: CutPoint; readonly reason?: string },
  ) => this.#parts.history.truncate(target, request);

  fork: HistoryControls['fork'] = (target, request, client: Client) =>
    this.#parts.history.fork(target, request, client);

  checkpoints: HistoryControls['checkpoints'] = (sessionId) =>
    this.#parts.history.checkpoints(sessionId);

  planRestore: HistoryControls['planRestore'] = (sessionId, what: RestoreChoice) =>
    this.#parts.history.planRestore(sessionId, what);

  readRestore: HistoryControls['readRestore'] = (sessionId, what, path, side) =>
    this.#parts.history.readRestore(sessionId, what, path, side);

  restoreFiles: HistoryControls['restoreFiles'] = (target, request) =>
    this.#parts.history.restoreFiles(target, request);

  restoreToolCall: HistoryControls['restoreToolCall'] = (target, request) =>
    this.#parts.history.restoreToolCall(target, request);

  setFsMode: FileControls['setFsMode'] = (target, mode) =>
    this.#parts.files.setFsMode(target, mode);

  commitStaged: FileControls['commitStaged'] = (target, paths) =>
    this.#parts.files.commitStaged(target, paths);

  discardStaged: FileControls['discardStaged'] = (target, paths) =>
    this.#parts.files.discardStaged(target, paths);

  editStaged: FileControls['editStaged'] = (target, edit) =>
    this.#parts.files.editStaged(target, edit);

  staged: FileControls['staged'] = (sessionId) => this.#parts.files.staged(sessionId);

  compact: DurableControls['compact'] = (target, request) =>
    this.#parts.durable.compact(target, request);

  respondToGate: DurableControls['respondToGate'] = (target, response) =>
    this.#parts.durable.respondToGate(target, response);

  withdraw: DurableControls['withdraw'] = (target, commandId) =>
    this.#parts.durable.withdraw(target, commandId);

  activateLoop: DurableControls['activateLoop'] = (target, loopId) =>
    this.#parts.durable.activateLoop(target, loopId);

  messageDelegate: DurableControls['messageDelegate'] = (target, request) =>
    this.#parts.durable.messageDelegate(target, request);

  stopDelegate: DurableControls['stopDelegate'] = (target, loopId) =>
    this.#parts.durable.stopDelegate(target, loopId);

  createCheckpoint: DurableControls['createCheckpoint'] = (target, request) =>
    this.#parts.durable.createCheckpoint(target, request);

  command: DurableControls['command'] = (sessionId, commandId) =>
    this.#parts.durable.command(sessionId, commandId);

  loops: DurableControls['loops'] = (sessionId) => this.#parts.durable.loops(sessionId);
}
