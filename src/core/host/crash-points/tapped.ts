import type { CrashPlan } from './crash-plan.ts';
import type { EffectName } from './point-names.ts';

/** For each method whether it is an effect; a method that is added has to be named here too. */
export type EffectsOf<T extends object> = { readonly [K in keyof T]-?: EffectName | null };

/** The same object, which passes a point before and behind each of its effects. */
export function tapped<T extends object>(target: T, effects: EffectsOf<T>, plan: CrashPlan): T {
  return replacing(target, (key, method) => {
    const name = Object.hasOwn(effects, key) ? effects[key as keyof T] : null;
    return name === null ? null : around(method, `effect/${name}`, plan);
  });
}

type Method = (...args: readonly unknown[]) => unknown;

/** The same object with some of its methods replaced; `replacement` gives null for those that stay. */
export function replacing<T extends object>(
  target: T,
  replacement: (key: string, method: Method) => Method | null,
): T {
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key, object);
      if (typeof value !== 'function' || typeof key !== 'string') return value;
      // Bound: a method of a class reads its private fields.
      const method: Method = (...args) => Reflect.apply(value, object, args);
      return replacement(key, method) ?? method;
    },
  });
}

/** Passes `before:` when it is called, in the same tick, and `after:` before its caller learns that it is done. */
export function around(method: Method, step: string, plan: CrashPlan): Method {
  return (...args) => {
    plan.pass(`before:${step}`);
    const result = method(...args);
    if (result instanceof Promise)
      return result.then((value: unknown) => {
        plan.pass(`after:${step}`);
        return value;
      });
    plan.pass(`after:${step}`);
    return result;
  };
}
