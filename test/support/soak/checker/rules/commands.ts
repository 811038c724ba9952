import {
  controlOf,
  type Evidence,
  historyOf,
  type LoopJournal,
  type LoopRule,
  openTurns,
  repeated,
} from '../evidence.ts';
import { heldIn, type Issued, issuedIn } from '../issued.ts';

/** An id stands for one command; one that was held may be issued again, with the same body, when it is sent. */
export const idsAreUnique: LoopRule = (loop) => {
  const complaints: string[] = [];
  const before = new Map<string, Issued>();
  for (const issued of issuedIn(loop)) {
    const first = before.get(issued.commandId);
    before.set(issued.commandId, issued);
    if (first === undefined) continue;
    if (first.bodyHash !== issued.bodyHash)
      complaints.push(`command ${issued.commandId} was issued with two bodies`);
    else if (!resolutionsOf(loop, issued.commandId, first.seq, issued.seq).includes('held'))
      complaints.push(`command ${issued.commandId} was issued twice`);
  }
  return complaints;
};

/** A command is resolved once, and only one that was issued. */
export const resolvedOnce: LoopRule = (loop) => {
  const known = new Set(issuedIn(loop).map(({ commandId }) => commandId));
  const resolved = controlOf(loop, 'command_resolved');
  const ends = resolved.filter(({ resolution }) => resolution !== 'held');
  return [
    ...repeated(ends.map(({ commandId }) => commandId)).map(
      (id) => `command ${id} was resolved twice`,
    ),
    ...resolved
      .filter(({ commandId }) => !known.has(commandId))
      .map(({ commandId }) => `command ${commandId} was resolved and never issued`),
  ];
};

/** A prompt begins one turn at most, and none where it was cancelled; no turn begins without a command. */
export const promptsBeginOnce: LoopRule = (loop, { loops }) => {
  const began = historyOf(loop, 'turn_started').map(({ commandId }) => String(commandId));
  const known = new Map(issuedIn(loop).map((issued) => [issued.commandId, issued]));
  const complaints = repeated(began).map((id) => `command ${id} began two turns`);
  // What a fork begins with began in the session that it was made from.
  const isFork = historyOf(loop, 'session_created').some(({ parent }) => parent !== undefined);
  const issued = isFork
    ? new Set(loops.flatMap(issuedIn).map(({ commandId }) => commandId))
    : known;
  complaints.push(
    ...began
      .filter((id) => !issued.has(id))
      .map((id) => `a turn began by ${id}, which was never issued`),
  );
  for (const { commandId, resolution } of controlOf(loop, 'command_resolved')) {
    if (known.get(commandId)?.type !== 'user_input') continue;
    const did = began.includes(commandId);
    if (resolution === 'started' && !did)
      complaints.push(`prompt ${commandId} is said to have begun and did not`);
    if (['cancelled', 'rejected', 'no_op'].includes(resolution) && did)
      complaints.push(`prompt ${commandId} began and is said to be ${resolution}`);
  }
  return complaints;
};

/** A message is delivered or taken back, once. */
export const messagesEndOnce: LoopRule = (loop) => {
  const delivered = historyOf(loop, 'inject_delivered').map(({ messageId }) => String(messageId));
  const revoked = controlOf(loop, 'inject_revoked').map(({ messageId }) => String(messageId));
  const known = new Set(issuedIn(loop).flatMap(({ messageId }) => messageId ?? []));
  return [
    ...repeated(delivered).map((id) => `message ${id} was delivered twice`),
    ...repeated(revoked).map((id) => `message ${id} was taken back twice`),
    ...delivered
      .filter((id) => revoked.includes(id))
      .map((id) => `message ${id} was delivered and taken back`),
    ...[...delivered, ...revoked]
      .filter((id) => !known.has(id))
      .map((id) => `message ${id} has an end and was never issued`),
  ];
};

/** What was held is in the queue, or was taken out of it once; a message that was held lies there with its text. */
export const heldIsKept: LoopRule = (loop) => {
  const added = controlOf(loop, 'queue_changed').flatMap(({ change }) =>
    change.kind === 'added' ? [change] : [],
  );
  const gone = controlOf(loop, 'queue_changed').flatMap(({ change }) =>
    change.kind === 'sent' || change.kind === 'removed' ? [String(change.itemId)] : [],
  );
  const items = new Set(added.map(({ itemId }) => String(itemId)));
  const complaints = repeated(gone).map((id) => `item ${id} left the queue twice`);
  complaints.push(
    ...repeated(added.map(({ itemId }) => itemId)).map((id) => `item ${id} came twice`),
  );
  const types = new Map(issuedIn(loop).map(({ commandId, type }) => [commandId, type]));
  for (const { commandId, resolution } of controlOf(loop, 'command_resolved'))
    if (resolution === 'held' && types.get(commandId) === 'user_input' && !items.has(commandId))
      complaints.push(`prompt ${commandId} is said to be held and is not in the queue`);
  const texts = new Set(added.map(({ content }) => JSON.stringify(content)));
  const messages = new Map(
    controlOf(loop, 'command_issued').flatMap(({ command }) =>
      command.type === 'inject' ? [[command.message_id, JSON.stringify(command.blocks)]] : [],
    ),
  );
  for (const { messageId, content } of controlOf(loop, 'inject_replaced'))
    messages.set(messageId, JSON.stringify(content));
  for (const { messageId, why } of controlOf(loop, 'inject_revoked'))
    if (why === 'held' && !texts.has(messages.get(messageId) ?? ''))
      complaints.push(`message ${messageId} is said to be held and its text is not in the queue`);
  return complaints;
};

/** Once its session came back, every command has an end, or waits where a person sees it. */
export const nothingIsLost: LoopRule = (loop, evidence) => {
  if (evidence.stage === 'dead') return [];
  const fates = new Fates(loop, evidence);
  return issuedIn(loop)
    .filter((issued) => !fates.isSettled(issued))
    .map(({ commandId, type }) => `${type} ${commandId} has no end and waits nowhere`);
};

/** What the machine tells is read once. */
export const machineInputIsReadOnce: LoopRule = (loop) => {
  const machine = new Set(
    issuedIn(loop)
      .filter(({ type }) => type === 'process_notification' || type === 'subagent_result')
      .map(({ commandId }) => commandId),
  );
  const read = loop.history.flatMap(({ event, cause }) => {
    if (event.type === 'turn_started') return [String(event.commandId)];
    return event.type === 'machine_message' ? cause.command_ids.map(String) : [];
  });
  return repeated(read.filter((id) => machine.has(id))).map((id) => `${id} was read twice`);
};

/** What is known of the ends of a loop's commands. */
class Fates {
  readonly #resolved: ReadonlySet<string>;
  readonly #began: ReadonlySet<string>;
  readonly #messages: ReadonlySet<string>;
  readonly #gates: ReadonlySet<string>;
  readonly #caused: ReadonlySet<string>;
  readonly #held: ReadonlySet<string>;
  readonly #isOpen: boolean;

  constructor(loop: LoopJournal, { stage }: Evidence) {
    this.#resolved = new Set(
      controlOf(loop, 'command_resolved').flatMap(({ commandId, resolution }) =>
        resolution === 'held' ? [] : [commandId],
      ),
    );
    this.#began = new Set(historyOf(loop, 'turn_started').map(({ commandId }) => commandId));
    this.#messages = new Set([
      ...historyOf(loop, 'inject_delivered').map(({ messageId }) => messageId),
      ...historyOf(loop, 'directives_issued').flatMap(({ directives }) =>
        directives.flatMap(({ messageId }) => messageId ?? []),
      ),
      ...controlOf(loop, 'inject_revoked').map(({ messageId }) => messageId),
    ]);
    this.#gates = new Set(historyOf(loop, 'gate_resolved').map(({ gateId }) => gateId));
    this.#caused = new Set(
      loop.history.flatMap(({ event, cause }) =>
        event.type === 'compacted' || event.type === 'compaction_rejected' ? cause.command_ids : [],
      ),
    );
    this.#held = heldIn(loop);
    this.#isOpen = stage === 'restored' && openTurns(loop).size > 0;
  }

  isSettled({ commandId, type, messageId, gateId }: Issued): boolean {
    if (this.#resolved.has(commandId)) return true;
    switch (type) {
      case 'user_input':
        return this.#began.has(commandId) || this.#held.has(commandId);
      case 'inject':
        return this.#messages.has(messageId ?? '') || this.#isOpen;
      case 'approve_tool_call':
      case 'deny_tool_call':
      case 'provide_user_input':
        return this.#gates.has(gateId ?? '');
      case 'compact':
        return this.#caused.has(commandId);
      case 'subagent_result':
      case 'process_notification':
        // They wait for the next turn, as long as there is none.
        return true;
      default:
        return false;
    }
  }
}

function resolutionsOf(
  loop: LoopJournal,
  commandId: string,
  after: number,
  before: number,
): readonly string[] {
  return loop.control.flatMap(({ event, seq }) =>
    event.type === 'command_resolved' &&
    event.commandId === commandId &&
    seq > after &&
    seq < before
      ? [event.resolution]
      : [],
  );
}
