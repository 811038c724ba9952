import { describe, expect, it } from 'vitest';
import type { Entry, Held } from '../../../../src/core/checkpoint/entry.ts';
import type { Snapshot } from '../../../../src/core/checkpoint/git/snapshot.ts';
import { combined } from '../../../../src/core/checkpoint/restore/goals.ts';
import {
  type PreImage,
  type TurnFacts,
  turnChanges,
} from '../../../../src/core/checkpoint/turn-changes.ts';

function held(text: string, mode = 0o644): Held {
  return { kind: 'file', content: text.padEnd(64, '0'), mode };
}

function snapshot(files: Record<string, Held>, more: Partial<Snapshot> = {}): Snapshot {
  return {
    files: new Map(Object.entries(files)),
    apart: [],
    emptyFolders: [],
    reasons: [],
    ...more,
  };
}

function facts(
  before: Snapshot | null,
  after: Snapshot | null,
  own: Record<string, { image: Entry; now: Entry; first?: boolean; folders?: string[] }> = {},
): TurnFacts {
  const images = Object.entries(own).map(([file, each]): [string, PreImage] => [
    file,
    { entry: each.image, folders: each.folders ?? [], first: each.first ?? false },
  ]);
  return {
    roots: new Map([['/w', { before, after }]]),
    preImages: new Map(images),
    present: new Map(Object.entries(own).map(([file, { now }]) => [file, now])),
  };
}

function told(changes: ReturnType<typeof turnChanges>): unknown {
  return Object.fromEntries(
    [...changes.before].map(([file, entry]) => [
      file,
      [entry?.content[0] ?? null, changes.after.get(file)?.content[0] ?? null],
    ]),
  );
}

describe('what a turn changed', () => {
  it('is what two snapshots tell apart, and what own tools wrote besides', () => {
    const before = snapshot(
      { '/w/a': held('1'), '/w/b': held('1'), '/w/m': held('1') },
      { apart: ['/w/dist/', '/w/x.log'] },
    );
    const after = snapshot({
      '/w/a': held('2'),
      '/w/c': held('1'),
      '/w/m': held('1', 0o600),
      '/w/x.log': held('1'),
      '/w/dist/o': held('1'),
    });
    const own = { '/w/dist/own': { image: held('1'), now: held('2') } };
    expect(told(turnChanges(facts(before, after, own)))).toEqual({
      '/w/a': ['1', '2'],
      '/w/b': ['1', null],
      '/w/c': [null, '1'],
      '/w/m': ['1', '1'],
      '/w/dist/own': ['1', '2'],
    });
  });

  it('goes by the state at the first effect where a later call kept another', () => {
    const before = snapshot({ '/w/a': held('1') });
    const after = snapshot({ '/w/a': held('3'), '/w/new': held('3') });
    const own = {
      '/w/a': { image: held('2'), now: held('3') },
      '/w/new': { image: held('2'), now: held('3') },
    };
    expect(told(turnChanges(facts(before, after, own)))).toEqual({
      '/w/a': ['1', '3'],
      '/w/new': [null, '3'],
    });
  });

  it('forgets what is as it was', () => {
    const before = snapshot({ '/w/a': held('1') });
    const own = {
      '/w/a': { image: held('1'), now: held('1'), first: true },
      '/w/gone': { image: null, now: null },
    };
    expect(told(turnChanges(facts(before, before, own)))).toEqual({});
  });

  it('goes by pre-images alone where there is no snapshot', () => {
    const own = { '/w/d/a': { image: null, now: held('1'), folders: ['/w/d'] } };
    const changes = turnChanges(facts(null, null, own));
    expect(told(changes)).toEqual({ '/w/d/a': [null, '1'] });
    expect(changes.folders).toEqual(['/w/d']);
  });

  it('knows the folders that it made from those that were there', () => {
    const before = snapshot(
      { '/w/src/a': held('1') },
      { emptyFolders: ['/w/empty'], apart: ['/w/out/dist/', '/w/logs/x.log'] },
    );
    const after = snapshot({
      '/w/src/a': held('1'),
      '/w/src/new/b': held('1'),
      '/w/empty/c': held('1'),
      '/w/out/d': held('1'),
      '/w/logs/e': held('1'),
      '/w/made/by/turn': held('1'),
    });
    const { folders } = turnChanges(facts(before, after));
    expect([...folders].sort()).toEqual(['/w/made', '/w/made/by', '/w/src/new']);
  });
});

describe('the union of turns', () => {
  const state = (entries: Record<string, Entry>, folders: string[] = []) => ({
    entries: new Map(Object.entries(entries)),
    folders,
    left: null,
  });

  it('goes back to before the first and compares with what the last left', () => {
    const goals = combined([
      {
        before: state({ a: held('1'), b: null }, ['d']),
        after: state({ a: held('2'), b: held('2') }),
      },
      { before: state({ a: held('2') }), after: state({ a: held('3') }) },
    ]);
    expect(goals.target.get('a')).toEqual(held('1'));
    expect(goals.left.get('a')).toEqual(held('3'));
    expect(goals.target.get('b')).toBe(null);
    expect([...goals.disputed]).toEqual([]);
    expect(goals.folders).toEqual(['d']);
  });

  it('disputes what changed between two of them', () => {
    const goals = combined([
      { before: state({ a: held('1') }), after: state({ a: held('2') }) },
      { before: state({ a: held('9') }), after: state({ a: held('3') }) },
    ]);
    expect([...goals.disputed]).toEqual(['a']);
  });
});
