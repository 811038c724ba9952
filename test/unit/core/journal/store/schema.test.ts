import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  MIGRATIONS,
  type Migration,
  migrate,
  schemaVersion,
} from '../../../../../src/core/journal/store/schema.ts';

function memory(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  return database;
}

const steps: Migration[] = [
  (database) => database.exec('CREATE TABLE a (x)'),
  (database) => database.exec('INSERT INTO a VALUES (1); ALTER TABLE a ADD COLUMN y'),
  (database) => database.exec('UPDATE a SET y = x + 1'),
];

describe('migrations', () => {
  test('run in order, each once, from wherever the file is', () => {
    for (const from of [0, 1, 2, 3]) {
      const database = memory();
      migrate(database, '/f', steps.slice(0, from));
      expect(schemaVersion(database)).toBe(from);
      migrate(database, '/f', steps);
      migrate(database, '/f', steps);
      expect(schemaVersion(database)).toBe(3);
      expect({ ...database.prepare('SELECT * FROM a').get() }).toEqual({ x: 1, y: 2 });
    }
  });

  test('a step that fails leaves the version before it, whole', () => {
    const database = memory();
    const failing: Migration = (open) => {
      open.exec('DROP TABLE a');
      open.exec('not SQL');
    };
    expect(() => migrate(database, '/f', [...steps, failing])).toThrow();
    expect(schemaVersion(database)).toBe(3);
    expect(database.prepare('SELECT count(*) AS n FROM a').get()?.['n']).toBe(1);
  });

  test('a newer file is refused with what to do', () => {
    const database = memory();
    migrate(database, '/f', steps);
    expect(() => migrate(database, '/f', steps.slice(0, 2))).toThrow(
      expect.objectContaining({
        code: 'journal.too_new',
        data: { folder: '/f', version: 3, known: 2 },
      }),
    );
  });

  test('the real ones make a schema', () => {
    const database = memory();
    migrate(database, '/f');
    expect(schemaVersion(database)).toBe(MIGRATIONS.length);
    expect(database.prepare('PRAGMA integrity_check').get()?.['integrity_check']).toBe('ok');
  });
});
