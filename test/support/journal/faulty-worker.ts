/**
 * The store's thread on a disk that fails when it is told to: a record whose text holds `FAULT:<kind>` brings the
 * failure about in the transaction that stores it, each time it is tried.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Result codes. Source: https://sqlite.org/rescode.html */
const CODES = { full: 13, readonly: 8, fsync: 1034, write: 778, read: 266, corrupt: 11 } as const;

/** What the commit of the transaction does, and what it says. */
const COMMITS: Readonly<
  Record<string, { lands: boolean; code: number; breaks?: 'handle' | 'disk' }>
> = {
  'commit-landed': { lands: true, code: CODES.fsync },
  'commit-lost': { lands: false, code: CODES.fsync },
  'commit-cut': { lands: false, code: CODES.write },
  'commit-full': { lands: false, code: CODES.full },
  'commit-landed-broken': { lands: true, code: CODES.fsync, breaks: 'handle' },
  'commit-lost-broken': { lands: false, code: CODES.fsync, breaks: 'handle' },
  'commit-unreadable': { lands: false, code: CODES.fsync, breaks: 'disk' },
};

/** What storing the record itself says. */
const STATEMENTS: Readonly<Record<string, number>> = {
  full: CODES.full,
  readonly: CODES.readonly,
  corrupt: CODES.corrupt,
};

let armed: string | null = null;
let isDead = false;

function failure(errcode: number): Error {
  return Object.assign(new Error('The disk was told to fail.'), {
    code: 'ERR_SQLITE_ERROR',
    errcode,
  });
}

function kindIn(values: readonly unknown[]): string | null {
  const text = values.find((value) => typeof value === 'string' && value.includes('FAULT:'));
  return typeof text === 'string' ? (/FAULT:([a-z-]+)/.exec(text)?.[1] ?? null) : null;
}

/** How many values a record is stored with. */
const RECORD_VALUES = 9;

/** A method as it is before it is replaced; it has to be called with its object. */
function original<T extends object, K extends keyof T>(prototype: T, name: K): T[K] {
  return prototype[name];
}

const exec = original(DatabaseSync.prototype, 'exec');
const prepare = original(DatabaseSync.prototype, 'prepare');
const run = original(StatementSync.prototype, 'run');
const get = original(StatementSync.prototype, 'get');

DatabaseSync.prototype.exec = function (sql: string): void {
  if (isDead) throw failure(CODES.read);
  const commit = sql === 'COMMIT' && armed !== null ? COMMITS[armed] : undefined;
  if (sql === 'COMMIT' || sql.startsWith('BEGIN')) armed = null;
  if (commit === undefined) {
    Reflect.apply(exec, this, [sql]);
    return;
  }
  Reflect.apply(exec, this, [commit.lands ? sql : 'ROLLBACK']);
  if (commit.breaks === 'handle') this.close();
  if (commit.breaks === 'disk') isDead = true;
  throw failure(commit.code);
};

DatabaseSync.prototype.prepare = function (sql: string): StatementSync {
  if (isDead) throw failure(CODES.read);
  return Reflect.apply(prepare, this, [sql]);
};

Object.assign(StatementSync.prototype, {
  run(this: StatementSync, ...values: readonly unknown[]): unknown {
    const kind = values.length === RECORD_VALUES ? kindIn(values) : null;
    if (kind !== null) armed = kind;
    const code = kind === null ? undefined : STATEMENTS[kind];
    if (isDead || code !== undefined) throw failure(code ?? CODES.read);
    return Reflect.apply(run, this, [...values]);
  },
  get(this: StatementSync, ...values: readonly unknown[]): unknown {
    if (isDead) throw failure(CODES.read);
    return Reflect.apply(get, this, [...values]);
  },
});

await import('../../../src/core/journal/worker.ts');
