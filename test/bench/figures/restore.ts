import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { foldSession } from '../../../src/core/host/fold-session.ts';
import { type OpenJournal, openJournal } from '../../../src/core/journal/open-journal.ts';
import type { Log, NewRecord } from '../../../src/core/session/ports.ts';
import type { CommandId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';
import { config, created, messageId, sessionId } from '../../support/journal/events.ts';
import { elapsed, inFolder, interleaved } from '../measure.ts';
import type { Figure } from '../report.ts';

const EVENTS = 100_000;
const ROUNDS = 7;

const silent = (): void => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };
const PIECE = 'A streamed piece of a reply, as long as most are. '.repeat(4);
const RESULT = 'A line of what a tool found, as long as most are.\n'.repeat(12);
const id = sessionId('long');

/** What a session is, folded from its 100,000 events, against a bare select and `JSON.parse` of the same rows. */
export async function benchRestore(): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const journal = await openJournal({ dataFolder: folder, log, clock: Date });
    try {
      await fill(journal);
      return await measured(journal, folder);
    } finally {
      await journal.close();
    }
  });
}

async function measured(journal: OpenJournal, folder: string): Promise<readonly Figure[]> {
  const database = new DatabaseSync(join(folder, 'sessions.db'), { readOnly: true });
  const select = database.prepare(
    "SELECT seq, at, v, hash, body FROM records WHERE n = 1 AND stream = 'history' ORDER BY seq",
  );
  const spans = await interleaved(ROUNDS, {
    fold: () => elapsed(() => foldSession(journal, id)),
    read: () => elapsed(() => journal.readHistory(id, { limit: EVENTS })),
    bare: () => elapsed(() => select.all().map((row): unknown => JSON.parse(String(row['body'])))),
  });
  database.close();
  const figure = (name: string, ours: number, aim: Figure['aim']): Figure => ({
    name: `${name} of ${EVENTS.toLocaleString('en')} events`,
    ours,
    unit: 'ms',
    baseline: { name: 'bare select and JSON.parse', value: spans.bare },
    aim,
  });
  return [
    figure('restore', spans.fold, { kind: 'ratio', limit: 3 }),
    figure('read', spans.read, null),
  ];
}

/** Turns of ten iterations, each of a streamed reply with a call and its result. */
async function fill(journal: OpenJournal): Promise<void> {
  await journal.append(id, [created()]);
  let events = 1;
  for (let turn = 0; events < EVENTS; turn += 1) {
    const records = turnRecords(turn);
    await journal.append(id, records);
    events += records.length;
  }
  // Indexing is over once a search was answered.
  await journal.sessions({ limit: 1, text: 'nothing' });
}

function turnRecords(turn: number): readonly NewRecord[] {
  const turnId = `turn-${turn}` as TurnId;
  const started: NewRecord['event'] = {
    type: 'turn_started',
    turnId,
    commandId: `command-${turn}` as CommandId,
    messageId: messageId(`prompt-${turn}`),
    content: [{ type: 'text', text: `Please do thing ${turn} for me` }],
    config,
  };
  const ended: NewRecord['event'] = {
    type: 'turn_ended',
    turnId,
    terminal: { kind: 'natural', owner: 'agent', reason: 'done' },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1 },
    iterations: 10,
  };
  const iterations = Array.from({ length: 10 }, (_, index) => iteration(turn, turnId, index));
  return [
    { stream: 'history', event: started },
    ...iterations.flat(),
    { stream: 'history', event: ended },
  ];
}

function iteration(turn: number, turnId: TurnId, index: number): readonly NewRecord[] {
  const message = messageId(`m-${turn}-${index}`);
  const toolCallId = `c-${turn}-${index}` as ToolCallId;
  const input = { path: `src/file-${index}.ts` };
  const deltas = Array.from({ length: 6 }, (_, part): NewRecord => {
    const offset = part * PIECE.length;
    const event = { turnId, messageId: message, kind: 'text', offset, text: PIECE } as const;
    return { stream: 'history', event: { type: 'message_delta', ...event } };
  });
  const usage = { inputTokens: 1_000, outputTokens: 100 };
  const calls = [{ toolCallId, name: 'read', input }];
  const call = { turnId, toolCallId };
  const result = {
    toolCallId,
    name: 'read',
    status: 'completed',
    parts: [{ type: 'text', text: RESULT }],
  } as const;
  return [
    ...deltas,
    {
      stream: 'history',
      event: {
        type: 'model_replied',
        turnId,
        iteration: index,
        messageId: message,
        calls,
        finish: 'tool_calls',
        usage,
      },
    },
    {
      stream: 'history',
      event: {
        type: 'tool_proposed',
        ...call,
        name: 'read',
        title: `Read file ${index}`,
        kind: 'read',
        input,
        locations: [{ path: `/work/src/file-${index}.ts` }],
        content: [],
      },
    },
    { stream: 'history', event: { type: 'tool_started', ...call } },
    {
      stream: 'history',
      event: {
        type: 'tool_ended',
        ...call,
        result,
        content: [{ type: 'content', content: { type: 'text', text: RESULT } }],
        locations: [],
      },
    },
  ];
}
