import {
  controlOf,
  historyOf,
  type LoopRule,
  openTurns,
  parkedTurn,
  repeated,
} from '../evidence.ts';

/** Turns follow one another; each is begun once, and ended once unless a cut of the history went through it. */
export const turnsFollow: LoopRule = (loop, { stage }) => {
  const complaints: string[] = [];
  let running: string | null = null;
  const ended = new Set<string>();
  let cut = false;
  for (const { event, seq } of loop.history) {
    if (event.type === 'history_moved') cut = true;
    if (event.type === 'turn_started') {
      if (running !== null)
        complaints.push(`at ${seq} turn ${event.turnId} began inside ${running}`);
      running = event.turnId;
    } else if (event.type === 'turn_ended') {
      if (event.turnId !== running && !(cut && ended.has(event.turnId)))
        complaints.push(`at ${seq} turn ${event.turnId} ended, which did not run`);
      ended.add(event.turnId);
      running = null;
    }
  }
  const began = historyOf(loop, 'turn_started').map(({ turnId }) => turnId);
  complaints.push(...repeated(began).map((turnId) => `turn ${turnId} began twice`));
  const parked = parkedTurn(loop);
  if (stage === 'settled' && running !== null && running !== parked)
    complaints.push(`turn ${running} never ended`);
  return complaints;
};

/** A question is asked once and resolved once, in its turn; open ones belong to a turn that is open. */
export const gatesResolveOnce: LoopRule = (loop) => {
  const complaints: string[] = [];
  const opened = historyOf(loop, 'gate_opened');
  const resolved = historyOf(loop, 'gate_resolved').map(({ gateId }) => gateId);
  const known = new Set(opened.map(({ gateId }) => gateId));
  complaints.push(
    ...repeated(opened.map(({ gateId }) => gateId)).map((id) => `gate ${id} opened twice`),
  );
  complaints.push(...repeated(resolved).map((id) => `gate ${id} was resolved twice`));
  complaints.push(
    ...resolved
      .filter((id) => !known.has(id))
      .map((id) => `gate ${id} was resolved and never opened`),
  );
  const open = openTurns(loop);
  const done = new Set(resolved);
  for (const { gateId, turnId } of opened)
    if (!done.has(gateId) && !open.has(turnId))
      complaints.push(`gate ${gateId} is open, and its turn ${turnId} is over`);
  return complaints;
};

/** After a restart a turn is open only where a question keeps it, and the journal says so. */
export const onlyQuestionsPark: LoopRule = (loop, { stage }) => {
  if (stage === 'dead') return [];
  const complaints: string[] = [];
  const asked = new Set<string>(historyOf(loop, 'gate_opened').map(({ turnId }) => turnId));
  for (const { event, cause: _cause, ...rest } of loop.control) {
    if (event.type !== 'session_restored' || event.parkedTurnId === undefined) continue;
    if (!asked.has(event.parkedTurnId))
      complaints.push(`at ${rest.seq} turn ${event.parkedTurnId} is parked and asks nothing`);
    if (event.parkedTurnId === event.interruptedTurnId)
      complaints.push(`at ${rest.seq} turn ${event.parkedTurnId} is parked and interrupted`);
  }
  const sealed = new Set<string>(historyOf(loop, 'turn_ended').map(({ turnId }) => turnId));
  for (const { interruptedTurnId } of controlOf(loop, 'session_restored'))
    if (interruptedTurnId !== null && !sealed.has(interruptedTurnId))
      complaints.push(`turn ${interruptedTurnId} was interrupted and is not sealed`);
  return complaints;
};

/** Pieces of a message lie side by side, without gap or overlap. */
export const textIsWhole: LoopRule = (loop) => {
  const complaints: string[] = [];
  const lengths = new Map<string, number>();
  for (const { event, seq } of loop.history) {
    if (event.type !== 'message_delta') continue;
    const key = `${event.messageId} ${event.kind}`;
    const length = lengths.get(key) ?? 0;
    if (event.offset !== length)
      complaints.push(`at ${seq} the text of ${key} goes on at ${event.offset}, not at ${length}`);
    lengths.set(key, event.offset + event.text.length);
  }
  return complaints;
};

/** A background process that began has one end once its session came back. */
export const processesEndOnce: LoopRule = (loop, { stage }) => {
  const started = historyOf(loop, 'process_started').map(({ processId }) => processId);
  const ended = historyOf(loop, 'process_ended').map(({ processId }) => processId);
  const complaints = repeated(ended).map((id) => `process ${id} ended twice`);
  const known = new Set(started);
  complaints.push(
    ...ended.filter((id) => !known.has(id)).map((id) => `process ${id} ended and never began`),
  );
  const restored = controlOf(loop, 'session_restored').length > 0;
  if (stage === 'dead' || !restored) return complaints;
  // What began before the newest restart died with its process.
  const lastRestart =
    loop.control.findLast(({ event }) => event.type === 'session_restored')?.at ?? 0;
  const done = new Set(ended);
  for (const { event, at } of loop.history)
    if (event.type === 'process_started' && at < lastRestart && !done.has(event.processId))
      complaints.push(`process ${event.processId} died with the old process and has no end`);
  return complaints;
};
