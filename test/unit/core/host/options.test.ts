import { describe, expect, it } from 'vitest';
import {
  checkChange,
  configOptions,
  DEFAULT_BUDGET,
  loopChangeOf,
} from '../../../../src/core/host/options.ts';
import type { SessionConfig } from '../../../../src/core/session/words.ts';

const CONFIG: SessionConfig = {
  mode: 'ask',
  model: 'a/one',
  thoughtLevel: 'auto',
  budget: DEFAULT_BUDGET,
};
const MODELS = [
  { id: 'a/one', name: 'One', images: false, available: true },
  { id: 'b/two', name: 'Two', images: false, available: false, unavailableReason: 'Set a key' },
];

/** As a client chooses a value: what it can mean, and whether it is there. */
async function asked(id: string, value: string): Promise<void> {
  await checkChange(loopChangeOf(id, value), { list: async () => MODELS });
}

describe('config options', () => {
  it('list all five with a current value that is among the choices', () => {
    for (const option of configOptions(CONFIG, MODELS)) {
      if (option.type !== 'select') throw new Error('only selects');
      const values = option.options.flatMap((choice) => ('value' in choice ? [choice.value] : []));
      expect(values).toContain(option.currentValue);
    }
  });

  it('keep showing a model that is not offered any more, and say why one is unavailable', () => {
    const [, model] = configOptions({ ...CONFIG, model: 'gone/x' }, MODELS);
    expect(model).toMatchObject({
      currentValue: 'gone/x',
      options: [
        { value: 'gone/x', description: 'Not available now' },
        { value: 'a/one' },
        { value: 'b/two', description: 'Set a key' },
      ],
    });
  });

  it('take named and custom budgets and show each by its name', () => {
    const custom = loopChangeOf('budget', '{"seconds":30,"costUsd":0.5}');
    expect(custom).toEqual({ budget: { seconds: 30, costUsd: 0.5 } });
    expect(configOptions({ ...CONFIG, budget: custom.budget ?? {} }, MODELS)[3]).toMatchObject({
      currentValue: '{"seconds":30,"costUsd":0.5}',
    });
    expect(loopChangeOf('budget', 'off')).toEqual({ budget: {} });
    expect(configOptions({ ...CONFIG, budget: {} }, MODELS)[3]).toMatchObject({
      currentValue: 'off',
    });
  });

  it('take a judge, show it, and go back to none', () => {
    const judge = (config: SessionConfig) => configOptions(config, MODELS)[4];
    expect(judge(CONFIG)).toMatchObject({
      id: 'judge',
      currentValue: 'off',
      options: [{ value: 'off' }, { value: 'same' }, { value: 'a/one' }, { value: 'b/two' }],
    });
    expect(loopChangeOf('judge', 'same')).toEqual({ judge: 'same' });
    expect(judge({ ...CONFIG, judge: 'same' })).toMatchObject({ currentValue: 'same' });
    expect(loopChangeOf('judge', 'b/two')).toEqual({ judge: 'b/two' });
    expect(loopChangeOf('judge', 'off')).toEqual({ judge: null });
    expect(judge({ ...CONFIG, judge: 'gone/x' })).toMatchObject({
      currentValue: 'gone/x',
      options: [{ value: 'off' }, { value: 'same' }, { value: 'gone/x' }, {}, {}],
    });
  });

  it.each([
    ['model', 'b/two'],
    ['judge', 'a/one'],
    ['judge', 'same'],
    ['judge', 'off'],
    ['mode', 'code'],
  ])('allow %s = %s', async (id, value) => {
    await expect(asked(id, value)).resolves.toBeUndefined();
  });

  it.each([
    ['mode', 'yolo', 'ask, architect, code, shadow'],
    ['model', 'c/three', 'a/one, b/two'],
    ['thought_level', 'huge', 'auto, off, low, medium, high'],
    ['budget', '{"steps":0}', 'standard, small, large, off'],
    ['budget', '{"minutes":1}', 'standard, small, large, off'],
    ['budget', 'not json', 'standard, small, large, off'],
    ['judge', 'c/three', 'a/one, b/two'],
    ['colour', 'red', 'mode, model, thought_level, budget, judge'],
  ])('refuse %s = %s and say what is allowed', async (id, value, allowed) => {
    await expect(asked(id, value)).rejects.toMatchObject({
      code: 'session.bad_option',
      message: expect.stringContaining(allowed),
    });
  });
});
