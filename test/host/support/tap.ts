import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../../src/base/json.ts';
import type { OpenOptions } from '../../vscode/driver/prepare.ts';
import { type HistoryEntry, isText } from './side-client.ts';

/** What one window was told of a session from the moment it opened it; streamed text aside. */
export type Told = {
  /** Events that show something: of the page that it began with, then live, in the order of their coming. */
  readonly events: readonly number[];
  /** Events whose updates came a second time. */
  readonly repeats: readonly number[];
};

type Frame = Readonly<Record<string, unknown>>;

/** Writes down what every door says to its window. */
export class Tap {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Options of a VS Code whose doors are listened to: each writes a file of its own, named by its start. */
  async options(): Promise<Partial<OpenOptions>> {
    await mkdir(this.#folder, { recursive: true });
    const program = join(this.#folder, 'node.sh');
    const file = `${this.#folder}/$(date +%s%N).ndjson`;
    const run = `"${process.execPath}" "$@" | tee -a "${file}"`;
    await writeFile(program, `#!/bin/bash\nset -o pipefail\n${run}\n`);
    await chmod(program, 0o755);
    return { settings: { 'pilothouse.agent.nodePath': program } };
  }

  /** True once the newest door said this to its window. */
  heard(text: string): boolean {
    const newest = this.#files.at(-1);
    return newest !== undefined && readFileSync(newest, 'utf8').includes(text);
  }

  /** Oldest first. */
  get #files(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.ndjson'))
      .sort()
      .map((name) => join(this.#folder, name));
  }

  /** What each window was told of the session, oldest first; doors that never opened it are left out. */
  told(sessionId: string): Told[] {
    return this.#files.flatMap((file) => toldIn(framesOf(file), sessionId) ?? []);
  }
}

function framesOf(file: string): Frame[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  // The last one may be cut off.
  return lines.slice(0, -1).flatMap((line) => {
    const frame: unknown = JSON.parse(line);
    return isObject(frame) ? [frame] : [];
  });
}

type Page = { readonly entries: readonly HistoryEntry[]; readonly lastEventId: number };

function toldIn(frames: readonly Frame[], sessionId: string): Told | null {
  const results = frames.map(({ result }) => result);
  const opened = results.findIndex((one) => isObject(one) && one['sessionId'] === sessionId);
  const page = results.find((one, at): one is Page => at > opened && isPage(one));
  if (opened < 0 || !page) return null;
  const shown = page.entries.filter(({ updates }) => updates.some((one) => !isText(one)));
  const events = shown.map(({ eventId }) => eventId);
  const seen = new Set<string>();
  const repeats: number[] = [];
  for (const { eventId, update } of frames.slice(opened).flatMap((one) => live(one, sessionId))) {
    if (eventId <= page.lastEventId || isText(update)) continue;
    const key = `${eventId} ${JSON.stringify(update)}`;
    if (seen.has(key)) repeats.push(eventId);
    seen.add(key);
    if (events.at(-1) !== eventId) events.push(eventId);
  }
  return { events, repeats };
}

function isPage(value: unknown): value is Page {
  return isObject(value) && Array.isArray(value['entries']) && 'lastEventId' in value;
}

function live(frame: Frame, sessionId: string): { eventId: number; update: Frame }[] {
  const { params, _harn: mark } = frame;
  if (frame['method'] !== 'session/update' || !isObject(params) || !isObject(mark)) return [];
  const { eventId } = mark;
  const { update } = params;
  const isOurs = params['sessionId'] === sessionId && typeof eventId === 'number';
  return isOurs && isObject(update) ? [{ eventId, update }] : [];
}
