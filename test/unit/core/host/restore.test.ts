import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { toDisposable } from '../../../../src/base/disposables.ts';
import { SourceCatalog } from '../../../../src/core/models/catalog.ts';
import type { ModelSource } from '../../../../src/core/models/source.ts';
import type { ModelCatalog } from '../../../../src/core/session/model.ts';
import type { Policy } from '../../../../src/core/session/tool.ts';
import { aTool, ManualClock, OWNER, ok } from '../../../support/engine/a-session.ts';
import { type DelegateRig, delegateRig } from '../../../support/engine/delegate-rig.ts';
import { calls, ScriptedModel, says } from '../../../support/engine/scripted-model.ts';

const silent = (): void => undefined;
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };
const ORIGIN = { actor: OWNER, agency: 'user' } as const;
const YES = { kind: 'selected', optionId: 'allow_once' } as const;

/** Models of another machine: the session's own is none of them. */
function otherModels(model: ScriptedModel): ModelCatalog {
  const source: ModelSource = {
    id: 'other',
    list: async () => [{ ...model.info, id: 'other/one' }],
    resolve: async (name) => (name === 'one' ? model : null),
    onDidChange: () => toDisposable(() => undefined),
  };
  return new SourceCatalog({ sources: [source], clock: new ManualClock(), log: SILENT });
}

function deciding(decision: 'ask' | 'deny' | 'allow'): Policy {
  return {
    decide: async () =>
      decision === 'ask'
        ? { decision, reason: 'test', details: [], remember: [] }
        : { decision, reason: 'the rules of today' },
    remember: async () => undefined,
  };
}

function ends(rig: DelegateRig): readonly string[] {
  return rig
    .history()
    .flatMap((event) => (event.type === 'turn_ended' ? [`${event.terminal.kind}`] : []));
}

function results(rig: DelegateRig): readonly string[] {
  return rig
    .history()
    .flatMap((event) =>
      event.type === 'tool_ended'
        ? [
            `${event.result.status}: ${event.result.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`,
          ]
        : [],
    );
}

describe('a session whose model is gone when it comes back', () => {
  it('keeps it, shows it as gone, and fails its turns with what to do, until a person chooses another', async () => {
    const before = await delegateRig();
    await before.prompt('say hello');
    const other = new ScriptedModel(says('from the other one'));
    const rig = await before.restart({ models: otherModels(other) });
    expect(rig.hosted.session.config.model).toBe('rehearsal/instant');
    const [, model] = await rig.hosted.configOptions();
    expect(model).toMatchObject({
      currentValue: 'rehearsal/instant',
      options: [
        { value: 'rehearsal/instant', description: 'Not available now' },
        { value: 'other/one' },
      ],
    });
    const failed = await rig.prompt('say hello');
    expect(failed.terminal).toMatchObject({ kind: 'provider_error' });
    const failure = rig.history().find((event) => event.type === 'model_failed');
    expect(failure).toMatchObject({
      code: 'model.unknown',
      message: 'There is no model source "rehearsal". Choose one of: other.',
      retryInMs: null,
    });
    expect(other.requests).toEqual([]);
    await rig.hosted.session.entries.changeLoop({ model: 'other/one' }, ORIGIN);
    expect((await rig.prompt('say hello')).terminal.kind).toBe('natural');
    expect(JSON.stringify(rig.history())).toContain('from the other one');
    expect(ends(rig)).toEqual(['natural', 'provider_error', 'natural']);
  });
});

describe('a session whose tools are others when it comes back', () => {
  it('offers those of today, and a call of one that is gone fails by name', async () => {
    const before = await delegateRig({
      models: new ScriptedModel(calls(['old', {}]), says('done')),
      tools: [aTool('old', () => ok('x'))],
    });
    await before.prompt('go');
    expect(results(before)).toEqual(['completed: x']);
    const model = new ScriptedModel(calls(['old', {}], ['new', {}]), says('done'));
    const rig = await before.restart({ models: model, tools: [aTool('new', () => ok('y'))] });
    await rig.prompt('go on');
    expect(results(rig).slice(1)).toEqual([
      expect.stringMatching(/^failed: There is no tool named "old"\. Available: .*new/),
      'completed: y',
    ]);
    const offered = model.requests[0]?.tools.map(({ name }) => name);
    expect(offered).toContain('new');
    expect(offered).not.toContain('old');
  });
});

describe('a turn at its question, where the rules are others when it comes back', () => {
  it('does not run what they forbid now, though a person had allowed it', async () => {
    const ran: string[] = [];
    const tools = [
      aTool('w', () => {
        ran.push('w');
        return ok('x');
      }),
    ];
    const before = await delegateRig({ tools, policy: deciding('ask') });
    void before.prompt('call w');
    await before.until(() => before.hosted.openGates().length === 1);
    const rig = await before.restart({ policy: deciding('deny') });
    const [gate] = rig.hosted.openGates();
    if (gate === undefined) throw new Error('The question is gone');
    expect(await rig.hosted.answerGate(gate.gateId, YES, OWNER)).toBe(true);
    rig.hosted.session.goOn();
    await rig.until(() => ends(rig).length === 1);
    expect(ran).toEqual([]);
    expect(results(rig)).toEqual(['denied: Not allowed: the rules of today']);
    // The same without the change of rules runs it.
    const twin = await before.restart();
    const [same] = twin.hosted.openGates();
    if (same === undefined) throw new Error('The question is gone');
    await twin.hosted.answerGate(same.gateId, YES, OWNER);
    twin.hosted.session.goOn();
    await twin.until(() => ends(twin).length === 1);
    expect(ran).toEqual(['w']);
  });
});

describe('a session that can not be written to when it comes back', () => {
  it('is not there, what was made of it is ended, and it comes back once it can', async () => {
    const disposed: string[] = [];
    const begun = new Deferred<void>();
    const hang = aTool('hang', async () => {
      begun.resolve();
      return await new Promise<never>(() => undefined);
    });
    const before = await delegateRig({ tools: [hang] });
    void before.prompt('call hang');
    await begun.promise;
    const journal = before.journal.left();
    journal.failure = new Error('read-only');
    const again = before.restart({ journal, onDispose: (what) => disposed.push(what) });
    await expect(again).rejects.toThrow('read-only');
    expect(disposed.sort()).toEqual(['checkpoints', 'external', 'processes']);
    journal.failure = null;
    const rig = await before.restart({ journal });
    expect(ends(rig)).toEqual(['runtime_error']);
  });
});
