import { copyFile, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../../session/ports.ts';
import { writeAtomically } from '../files/atomic-write.ts';
import {
  NO_RULES,
  type ReadRules,
  type RuleFile,
  readRuleFile,
  writeRuleFile,
} from './rule-file.ts';

/** Where remembered rules live that outlast a session. */
export interface PolicyStore {
  rules(): Promise<RuleFile>;
  /** Changes the rules; resolves when the change is on disk. */
  update(change: (rules: RuleFile) => RuleFile): Promise<void>;
  /** What is wrong with the stored rules, for a person; null if nothing. */
  problem(): string | null;
}

/** Keeps rules in `policy.json` of the data folder. Changes made to the file from outside are seen at the next look. */
export function createPolicyStore(options: {
  readonly dataFolder: string;
  readonly log: Log;
}): PolicyStore {
  return new FileStore(path.join(options.dataFolder, 'policy.json'), options.log);
}

type Loaded = ReadRules & { readonly stamp: string };

class FileStore implements PolicyStore {
  readonly #file: string;
  readonly #log: Log;
  #loaded: Loaded | null = null;
  #queue: Promise<void> = Promise.resolve();

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  async rules(): Promise<RuleFile> {
    return (await this.#load()).rules;
  }

  problem(): string | null {
    return this.#loaded?.broken === true
      ? `${this.#file} can't be read. Rules that allow something are not in force until it is mended; those that deny are kept.`
      : null;
  }

  async update(change: (rules: RuleFile) => RuleFile): Promise<void> {
    const done = this.#queue.then(() => this.#update(change));
    // The next change does not depend on this one.
    this.#queue = done.catch(() => undefined);
    await done;
  }

  async #update(change: (rules: RuleFile) => RuleFile): Promise<void> {
    const { rules, broken, stamp } = await this.#load();
    // A broken file is put aside, never overwritten: a person may still mend it.
    if (broken) await copyFile(this.#file, `${this.#file}.broken-${stamp.replaceAll(':', '-')}`);
    await writeAtomically(this.#file, Buffer.from(writeRuleFile(change(rules)), 'utf8'));
    this.#loaded = null;
    await this.#load();
  }

  async #load(): Promise<Loaded> {
    const stamp = await stampOf(this.#file);
    if (this.#loaded?.stamp === stamp) return this.#loaded;
    const read =
      stamp === ''
        ? { rules: NO_RULES, broken: false }
        : readRuleFile(await readFile(this.#file, 'utf8'));
    this.#loaded = { ...read, stamp };
    const problem = this.problem();
    if (problem !== null) this.#log.error(problem);
    return this.#loaded;
  }
}

/** Changes whenever the file does; empty if there is none. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs}:${size}:${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
