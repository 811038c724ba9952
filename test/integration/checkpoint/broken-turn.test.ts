import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointFiles } from '../../../src/core/session/control-events.ts';
import type { ToolCallId, TurnId } from '../../../src/core/session/words.ts';
import { CheckpointBench } from '../../support/checkpoint/checkpoint-bench.ts';

const CHILD = path.join(import.meta.dirname, '../../support/checkpoint/turn-child.ts');
const BROKEN = 'turn-broken' as TurnId;

let bench: CheckpointBench;

beforeEach(async () => {
  bench = await CheckpointBench.create();
  await bench.write('a', 'old');
  await bench.write('gone/x', 'old');
});

afterEach(async () => {
  await bench.dispose();
});

/** A turn in a process of its own, which is killed. */
async function brokenTurn(at: 'tool' | 'before' | 'capture' | 'keeping'): Promise<void> {
  await bench.checkpoints.dispose();
  const args = [CHILD, bench.root, bench.store, at];
  const [, signal] = await once(spawn(process.execPath, args), 'exit');
  expect(signal).toBe('SIGKILL');
  await bench.restart();
}

async function recovered(): Promise<CheckpointFiles> {
  const files = await bench.checkpoints.recoverTurn(BROKEN);
  if (files === null) throw new Error('Nothing was recovered');
  return files;
}

describe('a turn that a crash broke off', () => {
  it('is put back from what it found at its first effect, commands and own tools alike', async () => {
    await brokenTurn('tool');
    const files = await recovered();
    expect(files).toMatchObject({ coverage: 'full', reason: expect.stringContaining('crash') });
    expect(bench.changed(files)).toEqual({
      a: 'modified',
      'gone/x': 'deleted',
      later: 'added',
      'made/new': 'added',
    });
    const { skipped } = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(skipped).toEqual([]);
    expect([bench.text('a'), bench.text('gone/x'), bench.exists('made')]).toEqual([
      'old',
      'old',
      false,
    ]);
    expect(bench.exists('later')).toBe(false);
  });

  it('gives the same again until another turn has an effect, whichever way the crash came', async () => {
    await brokenTurn('capture');
    const first = await recovered();
    await bench.restart();
    expect(await recovered()).toEqual(first);
    await bench.turn(async ({ shell }) => shell('printf 1 > b'));
    await bench.restart();
    expect(await bench.checkpoints.recoverTurn(BROKEN)).toBe(null);
  });

  it('has nothing to put back if it was killed before its first effect', async () => {
    await brokenTurn('before');
    expect(await bench.checkpoints.recoverTurn(BROKEN)).toBe(null);
    expect(bench.text('a')).toBe('old');
    const files = await bench.turn(async ({ shell }) => shell('printf 2 > a'));
    expect(bench.changed(files)).toEqual({ a: 'modified' });
  });

  it('is known no more under another id, and not where nothing was kept', async () => {
    await brokenTurn('tool');
    expect(await bench.checkpoints.recoverTurn('turn-other' as TurnId)).toBe(null);
    expect(await bench.open('session-2').recoverTurn(BROKEN)).toBe(null);
  });

  it('keeps what it found when it goes on after the restart', async () => {
    await brokenTurn('tool');
    const effect = { turnId: BROKEN, toolCallId: 'call-4' as ToolCallId, paths: [bench.path('a')] };
    await bench.checkpoints.beforeEffect(effect, new AbortController().signal);
    await bench.write('a', 'after the restart');
    const ended = await bench.checkpoints.endTurn(BROKEN);
    if (ended === null) throw new Error('The turn had no effect');
    await bench.checkpoints.restore({ kind: 'turns', turns: [ended.files] }, []);
    expect([bench.text('a'), bench.text('gone/x'), bench.exists('made')]).toEqual([
      'old',
      'old',
      false,
    ]);
  });
});

describe('keeping files', () => {
  it('that is killed in the middle leaves nothing that is named, and works the next time', async () => {
    await brokenTurn('keeping');
    expect(existsSync(path.join(bench.store, 'session-1', 'states'))).toBe(false);
    const files = await bench.checkpoints.keep();
    await bench.write('a', 'new');
    await bench.checkpoints.restore({ kind: 'kept', files, turns: [] }, 'all');
    expect(bench.text('a')).toBe('old');
  });
});
