import { describe, expect, it } from 'vitest';
import { createModelCatalog } from '../../../../src/core/models/catalog.ts';
import { createRehearsalSource } from '../../../../src/core/models/rehearsal/rehearsal-source.ts';
import type { ModelSource } from '../../../../src/core/models/source.ts';
import type { ModelInfo } from '../../../../src/core/session/model.ts';
import { LeapingClock, ManualClock, RecordingLog, rejection, session } from './fakes.ts';

function info(id: string): ModelInfo {
  return { id, name: id, images: false, available: true };
}

function source(id: string, names: readonly string[]): ModelSource & { fire(): void } {
  const listeners = new Set<() => void>();
  return {
    id,
    list: async () => names.map((name) => info(`${id}/${name}`)),
    resolve: async (name) =>
      names.includes(name)
        ? {
            info: info(`${id}/${name}`),
            async *stream() {
              yield { type: 'finish', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } };
            },
          }
        : null,
    onDidChange: (listener) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    fire: () => {
      for (const listener of listeners) listener();
    },
  };
}

function catalogOf(...sources: readonly ModelSource[]) {
  const log = new RecordingLog();
  const clock = new ManualClock();
  return { log, clock, catalog: createModelCatalog({ sources, clock, log }) };
}

describe('a catalog', () => {
  it('lists all sources in their order', async () => {
    const { catalog, clock } = catalogOf(source('b', ['1', '2']), source('a', ['x/y']));
    expect((await catalog.list()).map((one) => one.id)).toEqual(['b/1', 'b/2', 'a/x/y']);
    expect(clock.sleeping).toBe(0);
  });

  it('resolves by the first slash and keeps the others in the name', async () => {
    const { catalog } = catalogOf(source('a', ['x/y']));
    expect((await catalog.resolve('a/x/y', session)).info.id).toBe('a/x/y');
  });

  it.each(['', 'a', 'a/', 'a/z', 'other/x', '/x', '__proto__/x'])(
    'refuses %j as unknown',
    async (id) => {
      const { catalog } = catalogOf(source('a', ['x']));
      expect(await rejection(catalog.resolve(id, session))).toMatchObject({
        code: 'model.unknown',
        retryable: false,
      });
    },
  );

  it('shows the others when one source fails or hangs, and logs it', async () => {
    const failing: ModelSource = {
      ...source('bad', []),
      list: () => Promise.reject(new Error('broken')),
    };
    const hanging: ModelSource = {
      ...source('slow', []),
      list: () => new Promise(() => undefined),
    };
    const { catalog, clock, log } = catalogOf(failing, hanging, source('a', ['x']));
    const listed = catalog.list();
    clock.advance(1_000);
    expect((await listed).map((one) => one.id)).toEqual(['a/x']);
    expect(log.lines.toSorted().map((line) => line.split('{')[1])).toEqual([
      '"source":"bad","error":"broken"}',
      '"source":"slow"}',
    ]);
  });

  it('tells of changes of its sources until they are replaced or it is disposed', () => {
    const old = source('a', []);
    const next = source('b', []);
    const { catalog } = catalogOf(old);
    let changes = 0;
    catalog.onDidChange(() => {
      changes += 1;
    });
    old.fire();
    expect(changes).toBe(1);
    catalog.replaceSources([next]);
    expect(changes).toBe(2);
    old.fire();
    expect(changes).toBe(2);
    next.fire();
    expect(changes).toBe(3);
    catalog.dispose();
    next.fire();
    expect(changes).toBe(3);
  });

  it('refuses two sources of one id', () => {
    expect(() => catalogOf(source('a', []), source('a', []))).toThrow(TypeError);
  });

  it('holds the rehearsal model', async () => {
    const { catalog } = catalogOf(createRehearsalSource({ clock: new LeapingClock() }));
    const model = await catalog.resolve('rehearsal/script', session);
    expect(model.info).toMatchObject({ id: 'rehearsal/script', available: true });
  });
});
