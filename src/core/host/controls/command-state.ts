import type { CommandState } from '../../../protocol/pilothouse.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { Journal } from '../../session/ports.ts';
import type { CommandId, SessionId } from '../../session/words.ts';

type Reads = Pick<Journal, 'readControl' | 'readHistory'>;

const PAGE = 500;

/** What the records of a loop say of a command. */
type Known = {
  type: string | null;
  resolution: { readonly word: string; readonly reason?: string } | null;
};

/**
 * What became of a command, from the records of one loop; null if it has none of this id. What it says is what is on
 * disk: a turn that goes on is `running`, also where no process runs it at the moment.
 */
export async function commandState(
  journal: Reads,
  loopId: SessionId,
  commandId: CommandId,
): Promise<CommandState | null> {
  const known = await bookkept(journal, loopId, commandId);
  const turn = await turnOf(journal, loopId, commandId);
  if (known.type === null && known.resolution === null && turn === null) return null;
  const { resolution } = known;
  return {
    commandId,
    state: stateOf(resolution?.word ?? null, turn),
    ...(known.type === null ? {} : { type: known.type }),
    ...(resolution === null ? {} : { resolution: resolution.word }),
    ...(resolution?.reason === undefined ? {} : { reason: resolution.reason }),
    ...(turn === null ? {} : { turnId: turn.turnId }),
  };
}

function stateOf(
  resolution: string | null,
  turn: { readonly isOver: boolean } | null,
): CommandState['state'] {
  if (resolution === 'held') return 'held';
  if (turn !== null && (resolution === null || resolution === 'started'))
    return turn.isOver ? 'done' : 'running';
  return resolution === null ? 'waiting' : 'done';
}

/** Newest first: what is asked for is mostly new, and the record of its end comes behind that of its issue. */
async function bookkept(journal: Reads, loopId: SessionId, commandId: CommandId): Promise<Known> {
  const known: Known = { type: null, resolution: null };
  const read = (before: number | undefined) =>
    journal.readControl(loopId, {
      limit: PAGE,
      newestFirst: true,
      ...(before === undefined ? {} : { before }),
    });
  await newestFirst(read, ({ event }) => {
    note(known, event, commandId);
    return known.type !== null;
  });
  return known;
}

function note(known: Known, event: ControlEvent, commandId: CommandId): void {
  if (event.type === 'command_resolved' && event.commandId === commandId) {
    const { resolution: word, reason } = event;
    known.resolution ??= { word, ...(reason === undefined ? {} : { reason }) };
  } else if (event.type === 'command_issued' && event.command.command_id === commandId)
    known.type = event.command.type;
  else if (event.type === 'command_accepted' && event.commandId === commandId)
    known.type = event.command;
  else if (event.type === 'inject_accepted' && event.commandId === commandId) known.type = 'inject';
}

async function turnOf(
  journal: Reads,
  loopId: SessionId,
  commandId: CommandId,
): Promise<{ readonly turnId: string; readonly isOver: boolean } | null> {
  const over = new Set<string>();
  let turnId: string | null = null;
  const read = (before: number | undefined) =>
    journal.readHistory(loopId, {
      limit: PAGE,
      newestFirst: true,
      ...(before === undefined ? {} : { before }),
    });
  await newestFirst(read, ({ event, cause }) => {
    if (event.type === 'turn_ended') over.add(event.turnId);
    turnId = beganOrJoined(event, cause.command_ids, commandId);
    return turnId !== null;
  });
  return turnId === null ? null : { turnId, isOver: over.has(turnId) };
}

/** The turn that this event says the command began, or was read in. */
function beganOrJoined(
  event: HistoryEvent,
  causes: readonly CommandId[],
  commandId: CommandId,
): string | null {
  if (event.type === 'turn_started' && event.commandId === commandId) return event.turnId;
  const isInput = event.type === 'inject_delivered' || event.type === 'directives_issued';
  return isInput && causes.includes(commandId) ? event.turnId : null;
}

/** Looks at records from the newest on until `look` has seen enough. */
async function newestFirst<E>(
  read: (before: number | undefined) => Promise<readonly Stored<E>[]>,
  look: (record: Stored<E>) => boolean,
): Promise<void> {
  for (let before: number | undefined; ; ) {
    const page = await read(before);
    if (page.some(look)) return;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last.seq;
  }
}
