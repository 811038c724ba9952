import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import type { ToolCallId, TurnId } from '../../session/words.ts';
import { type Entry, entryShape } from '../entry.ts';
import { ignoreMissing } from '../errors.ts';
import { makeFolder } from './durable.ts';

const entries = z.array(z.tuple([z.string(), entryShape]));
const lineShape = z.discriminatedUnion('kind', [
  /** What a call's paths held before it ran, and folders that were not there. */
  z.object({
    kind: z.literal('before'),
    call: z.string(),
    /** Older versions did not say it. */
    turn: z.exactOptional(z.string()),
    entries,
    folders: z.array(z.string()),
  }),
  /** What the session left at these paths, after a call or a restore. */
  z.object({ kind: z.literal('left'), entries }),
]);
type Line = z.infer<typeof lineShape>;

/** The pre-images of one tool call. */
export type CallBefore = {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly folders: readonly string[];
  /** Null where an older version kept it. */
  readonly turnId: string | null;
};

/** The pre-images of a session's tool calls and what was left behind: a file that only grows, one line a fact. */
export class CallLog {
  readonly #file: string;
  readonly #calls = new Map<string, CallBefore>();
  readonly #left = new Map<string, Entry>();
  #loading: Promise<void> | null = null;

  constructor(folder: string) {
    this.#file = path.join(folder, 'calls.jsonl');
  }

  /** Null if the call wrote nothing that it said. */
  async before(call: ToolCallId): Promise<CallBefore | null> {
    await this.#load();
    return this.#calls.get(call) ?? null;
  }

  /** What the session left at a path last; undefined if it never wrote there by its own tools. */
  async left(file: string): Promise<Entry | undefined> {
    await this.#load();
    return this.#left.get(file);
  }

  /** The pre-images of a turn's calls, oldest first. */
  async ofTurn(turnId: TurnId): Promise<readonly CallBefore[]> {
    await this.#load();
    return [...this.#calls.values()].filter((call) => call.turnId === turnId);
  }

  async keepBefore(
    call: ToolCallId,
    turnId: TurnId,
    before: Pick<CallBefore, 'entries' | 'folders'>,
  ): Promise<void> {
    await this.#append({
      kind: 'before',
      call,
      turn: turnId,
      entries: [...before.entries],
      folders: [...before.folders],
    });
  }

  async keepLeft(left: ReadonlyMap<string, Entry>): Promise<void> {
    if (left.size > 0) await this.#append({ kind: 'left', entries: [...left] });
  }

  async #append(line: Line): Promise<void> {
    await this.#load();
    await makeFolder(path.dirname(this.#file));
    const handle = await open(this.#file, 'a', 0o600);
    try {
      // A line that a crash cut is ended first, so that it spoils only itself.
      await handle.writeFile(`\n${JSON.stringify(line)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    this.#take(line);
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read();
    return this.#loading;
  }

  async #read(): Promise<void> {
    const text = (await readFile(this.#file, 'utf8').catch(ignoreMissing)) ?? '';
    for (const raw of text.split('\n')) {
      if (raw === '') continue;
      const line = lineShape.safeParse(parsed(raw));
      if (line.success) this.#take(line.data);
    }
  }

  #take(line: Line): void {
    if (line.kind === 'left') for (const [file, entry] of line.entries) this.#left.set(file, entry);
    else {
      const { call, folders, turn } = line;
      const known = this.#calls.get(call);
      // A call that was announced twice keeps what was there before the first time.
      this.#calls.set(call, {
        entries: new Map([...line.entries, ...(known?.entries ?? [])]),
        folders: [...new Set([...(known?.folders ?? []), ...folders])],
        turnId: known?.turnId ?? turn ?? null,
      });
    }
  }
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    // Cut by a crash before anything named it.
    return null;
  }
}
