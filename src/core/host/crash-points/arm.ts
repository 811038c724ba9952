import type { Model, ModelCatalog } from '../../session/model.ts';
import type { HostParts } from '../host-parts.ts';
import type { ResourceFactory } from '../session-resources.ts';
import { CrashPlan } from './crash-plan.ts';
import { crashingJournal } from './crashing-journal.ts';
import { CrashingTools } from './crashing-tools.ts';
import { crashPointNames } from './point-names.ts';
import { replacing, tapped } from './tapped.ts';

/**
 * Gives what makes a host die at the points that `text` names, the value of CRASH_AT. Throws `CrashPlanError` for a
 * name that there is not. Without the variable nothing of this is loaded.
 */
export function armCrashPoints(text: string): (parts: HostParts) => HostParts {
  const plan = new CrashPlan(text, crashPointNames());
  return (parts) => {
    const { deps, factory } = parts;
    return {
      ...parts,
      deps: {
        ...deps,
        journal: crashingJournal(deps.journal, plan),
        models: crashingModels(deps.models, plan),
        policy: tapped(deps.policy, { decide: null, remember: 'policy.remember' }, plan),
      },
      factory: crashingFactory(factory, plan),
    };
  };
}

function crashingFactory(factory: ResourceFactory, plan: CrashPlan): ResourceFactory {
  const crashing = new CrashingTools(plan);
  const { builtinTools } = factory;
  return {
    ...factory,
    builtinTools: {
      ready: () => builtinTools.ready(),
      list: () => crashing.wrap(builtinTools.list()),
    },
    processes: (...args) =>
      tapped(
        factory.processes(...args),
        {
          start: 'process.start',
          stop: 'process.stop',
          stopAll: 'process.stop_all',
          list: null,
          output: null,
          onDidEnd: null,
          dispose: null,
        },
        plan,
      ),
    externalTools: (...args) =>
      replacing(factory.externalTools(...args), (key, method) =>
        key === 'tools'
          ? () => crashing.wrap(method() as ReturnType<typeof builtinTools.list>, 'external_tool')
          : null,
      ),
    checkpoints: (...args) =>
      tapped(
        factory.checkpoints(...args),
        {
          beforeEffect: 'checkpoint.before',
          endTurn: 'checkpoint.end',
          keep: 'checkpoint.keep',
          recoverTurn: 'checkpoint.recover_turn',
          plan: 'checkpoint.plan',
          restore: 'checkpoint.restore',
          settled: 'checkpoint.settled',
          recover: 'checkpoint.recover',
          read: null,
          dispose: null,
        },
        plan,
      ),
  };
}

function crashingModels(models: ModelCatalog, plan: CrashPlan): ModelCatalog {
  return replacing(models, (key, method) =>
    key === 'resolve'
      ? async (...args) => crashingModel((await method(...args)) as Model, plan)
      : null,
  );
}

function crashingModel(model: Model, plan: CrashPlan): Model {
  return {
    info: model.info,
    async *stream(request, signal) {
      plan.pass('before:effect/model.request');
      yield* model.stream(request, signal);
      plan.pass('after:effect/model.request');
    },
  };
}
