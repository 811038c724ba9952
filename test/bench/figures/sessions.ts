import { DatabaseSync } from 'node:sqlite';
import { type OpenJournal, openJournal } from '../../../src/core/journal/open-journal.ts';
import type { HistoryEvent } from '../../../src/core/session/events.ts';
import type { Log, NewRecord } from '../../../src/core/session/ports.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';
import {
  created,
  delta,
  prompted,
  replied,
  sessionId,
  titled,
} from '../../support/journal/events.ts';
import { elapsed, inFolder, interleaved } from '../measure.ts';
import { type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

const SESSIONS = 10_000;
const EVENTS = 10_000;
const PAGE = 50;

const silent = (): void => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };
const PIECE = 'A streamed piece of a reply, as long as most are. '.repeat(4);

async function filled(
  home: string,
  fill: (journal: OpenJournal) => Promise<unknown>,
): Promise<void> {
  const journal = await openJournal({ dataFolder: home, log, clock: Date });
  try {
    await fill(journal);
    // Indexing is over once a search was answered.
    await journal.sessions({ limit: 1, text: 'nothing' });
  } finally {
    await journal.close();
  }
}

function pageOf(peer: Peer, cursor?: string): Promise<{ readonly [key: string]: unknown }> {
  return peer.request('session/list', cursor === undefined ? {} : { cursor });
}

/** A page of the list over ACP, against a bare select of as many rows. */
export async function benchSessionList(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const home = `${folder}/home`;
    await filled(home, (journal) =>
      Promise.all(
        Array.from({ length: SESSIONS }, (_, index) =>
          journal.append(sessionId(`session-${index}`), [
            created(`/work/${index % 20}`),
            titled(`Title number ${index}`),
            prompted(`Please do thing ${index} for me`),
          ]),
        ),
      ),
    );
    const bare = new DatabaseSync(`${home}/sessions.db`, { readOnly: true });
    const select = bare.prepare(
      'SELECT * FROM sessions WHERE deleting = 0 ORDER BY last_message_at DESC, session_id LIMIT ?',
    );
    const spans = await withPeer(programs.ours(home), async (peer) => {
      await peer.initialize();
      let cursor = String((await pageOf(peer))['nextCursor']);
      for (let page = 1; page < 100; page += 1) {
        const next = (await pageOf(peer, cursor))['nextCursor'];
        if (typeof next === 'string') cursor = next;
      }
      return await interleaved(40, {
        first: () => elapsed(() => pageOf(peer)),
        later: () => elapsed(() => pageOf(peer, cursor)),
        bare: () => elapsed(() => select.all(PAGE)),
      });
    });
    bare.close();
    const figure = (name: string, ours: number): Figure => ({
      name: `${name} of ${SESSIONS.toLocaleString('en')} sessions`,
      ours,
      unit: 'ms',
      baseline: { name: `bare select of ${PAGE} rows`, value: spans.bare },
      aim: { kind: 'below', limit: 10 },
    });
    return [figure('list, first page', spans.first), figure('list, page 101', spans.later)];
  });
}

/** Turns of a prompt, a reply in pieces, a read and its result, and an end: ten events each. */
function history(events: number, cwd: string): NewRecord[] {
  const records: NewRecord[] = [created(cwd)];
  for (let turn = 1; records.length < events; turn += 1) records.push(...oneTurn(turn));
  return records.slice(0, events);
}

function oneTurn(turn: number): NewRecord[] {
  const turnId = `t${turn}` as TurnId;
  const toolCallId = `c${turn}` as ToolCallId;
  const message = `m${turn}`;
  const event = (one: HistoryEvent): NewRecord => ({ stream: 'history', event: one });
  const [asked, first, second, ended] = [
    prompted(`Please do thing ${turn}`),
    delta(PIECE, message, 0),
    delta(PIECE, message, PIECE.length),
    delta(PIECE, `${message}b`, 0),
  ];
  const place = { turnId, toolCallId };
  return [
    asked,
    first,
    second,
    replied(message),
    event({
      type: 'tool_proposed',
      ...place,
      name: 'read',
      title: 'Read src/main.ts',
      kind: 'read',
      input: { path: 'src/main.ts' },
      locations: [{ path: '/work/folder/src/main.ts', line: 1 }],
      content: [],
    }),
    event({ type: 'tool_started', ...place }),
    event({
      type: 'tool_ended',
      ...place,
      result: {
        toolCallId,
        name: 'read',
        status: 'completed',
        parts: [{ type: 'text', text: PIECE.repeat(4) }],
      },
      content: [{ type: 'content', content: { type: 'text', text: PIECE.repeat(4) } }],
      locations: [],
      rawOutput: {},
    }),
    ended,
    replied(`${message}b`),
    event({
      type: 'turn_ended',
      turnId,
      terminal: { kind: 'natural', owner: 'agent', reason: 'stop' },
      stopReason: 'end_turn',
      usage: { inputTokens: 100, outputTokens: 100 },
      iterations: 2,
    }),
  ];
}

/** Stores a session of as many events, turns as people have them. */
export async function storeLongSession(
  home: string,
  { id, cwd, events }: { readonly id: SessionId; readonly cwd: string; readonly events: number },
): Promise<void> {
  await filled(home, async (journal) => {
    const records = history(events, cwd);
    for (let at = 0; at < records.length; at += 500)
      await journal.append(id, records.slice(at, at + 500));
  });
}

/** Loading a session over ACP until its last update and answer came, against reading the same rows in place. */
export async function benchSessionLoad(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const home = `${folder}/home`;
    const id = sessionId('long');
    await storeLongSession(home, { id, cwd: folder, events: EVENTS });
    const bare = new DatabaseSync(`${home}/sessions.db`, { readOnly: true });
    const select = bare.prepare(
      "SELECT seq, at, v, hash, body FROM records WHERE n = 1 AND stream = 'history' ORDER BY seq",
    );
    const spans = await withPeer(programs.ours(home), async (peer) => {
      await peer.initialize();
      const load = (): Promise<unknown> =>
        peer.request('session/load', { sessionId: id, cwd: folder, mcpServers: [] });
      return await interleaved(9, {
        ours: async () => {
          const span = await elapsed(load);
          await peer.request('session/close', { sessionId: id });
          return span;
        },
        bare: () =>
          elapsed(() => select.all().map((row) => JSON.parse(String(row['body'])) as unknown)),
      });
    });
    bare.close();
    return [
      {
        name: `load of ${EVENTS.toLocaleString('en')} events`,
        ours: spans.ours,
        unit: 'ms',
        baseline: { name: 'bare select and JSON.parse', value: spans.bare },
        aim: { kind: 'ratio', limit: 3 },
      },
    ];
  });
}
