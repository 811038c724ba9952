import type { PreparedCall, Tool } from '../../session/tool.ts';
import type { CrashPlan } from './crash-plan.ts';
import { around, replacing } from './tapped.ts';

/** Passes a point before and behind each run of a tool: its own, or `effect` for all of them. */
export class CrashingTools {
  readonly #plan: CrashPlan;
  /** One for each tool: the same tool is the same object every time. */
  readonly #made = new WeakMap<Tool, Tool>();

  constructor(plan: CrashPlan) {
    this.#plan = plan;
  }

  wrap(tools: readonly Tool[], effect?: string): readonly Tool[] {
    return tools.map((tool) => {
      const made = this.#made.get(tool) ?? this.#crashing(tool, effect ?? tool.definition.name);
      this.#made.set(tool, made);
      return made;
    });
  }

  #crashing(tool: Tool, effect: string): Tool {
    return replacing(tool, (key, method) =>
      key !== 'prepare'
        ? null
        : async (...args) => {
            const prepared = await method(...args);
            return isCall(prepared) ? this.#crashingCall(prepared, effect) : prepared;
          },
    );
  }

  #crashingCall(call: PreparedCall, effect: string): PreparedCall {
    return replacing(call, (key, method) =>
      key === 'run' ? around(method, `effect/${effect}`, this.#plan) : null,
    );
  }
}

function isCall(prepared: unknown): prepared is PreparedCall {
  return typeof prepared === 'object' && prepared !== null && 'run' in prepared;
}
