import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointBench } from '../../support/checkpoint/checkpoint-bench.ts';

let bench: CheckpointBench;

beforeEach(async () => {
  bench = await CheckpointBench.create();
});

afterEach(async () => {
  await bench.dispose();
});

/** A turn that wrote `a` and made `new`, rolled back; what its record would name. */
async function rolledBack(): Promise<string> {
  await bench.write('a', 'old');
  const files = await bench.turn(async ({ shell }) => shell('printf turn > a; printf 1 > new'));
  const { undo } = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
  expect([bench.text('a'), bench.exists('new')]).toEqual(['old', false]);
  return undo;
}

function note(): boolean {
  return existsSync(path.join(bench.store, 'session-1', 'restoring.json'));
}

describe('a restore whose process died', () => {
  it('before an event told of it is taken back when the session comes back', async () => {
    await rolledBack();
    await bench.restart();
    await bench.checkpoints.recover(() => false);
    expect([bench.text('a'), bench.text('new'), note()]).toEqual(['turn', '1', false]);
  });

  it('after an event told of it stands, also if it was not settled yet', async () => {
    const undo = await rolledBack();
    await bench.restart();
    await bench.checkpoints.recover((one) => one === undo);
    expect([bench.text('a'), bench.exists('new'), note()]).toEqual(['old', false, false]);
    await bench.checkpoints.restore({ kind: 'undo', undo }, []);
    expect(bench.text('a')).toBe('turn');
  });

  it('stands once it is settled, whatever is recorded', async () => {
    await rolledBack();
    await bench.checkpoints.settled();
    expect(note()).toBe(false);
    await bench.restart();
    await bench.checkpoints.recover(() => false);
    expect([bench.text('a'), bench.exists('new')]).toEqual(['old', false]);
  });

  it('stands when the session went on to another effect', async () => {
    await rolledBack();
    await bench.turn(async ({ shell }) => shell('printf later > b'));
    await bench.restart();
    await bench.checkpoints.recover(() => false);
    expect([bench.text('a'), bench.text('b')]).toEqual(['old', 'later']);
  });

  it('leaves a file alone that somebody changed in between', async () => {
    await rolledBack();
    await bench.write('a', 'mine');
    await bench.restart();
    await bench.checkpoints.recover(() => false);
    expect([bench.text('a'), bench.text('new')]).toEqual(['mine', '1']);
  });
});
