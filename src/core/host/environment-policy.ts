import * as z from 'zod/mini';
import type { JsonObject } from '../../base/json.ts';
import { ControlRefused } from '../session/control/refusal.ts';
import type { EnvironmentGrant, EnvironmentPolicy } from '../session/words.ts';
import { childEnvironment } from '../tools/run/child-environment.ts';
import { OWNER_VARIABLE } from '../tools/run/strays.ts';
import { HostError } from './errors.ts';

/**
 * What every policy lets through, because without it no shell finds its programs, the person's home, the folder for
 * temporary files or its language. Names are compared as the operating system does.
 */
const MINIMUM: readonly RegExp[] =
  process.platform === 'win32'
    ? [
        /^(PATH|PATHEXT|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|TEMP|TMP)$/i,
        /^(USERPROFILE|HOMEDRIVE|HOMEPATH|USERNAME|OS|PROCESSOR_ARCHITECTURE)$/i,
      ]
    : [/^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+)$/];

/** Names that change which code programs load or run, or by which children are known as ours. */
const REFUSED_NAMES: readonly RegExp[] = [
  /^(LD|DYLD)_/i,
  /^(ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|PYTHONSTARTUP|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS)$/i,
  /^GIT_(SSH|SSH_COMMAND|EXEC_PATH|CONFIG.*|EXTERNAL_DIFF|PAGER|EDITOR)$/i,
  new RegExp(`^${OWNER_VARIABLE}$`, 'i'),
];

/** The policy of a session that asked for none. */
export const INHERITED: EnvironmentPolicy = { kind: 'inherited' };

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A program as it is written at the beginning of a command. */
const PROGRAM = /^[\w./+@-]+$/;

const variable = z.string().check(z.regex(VARIABLE, 'is not a name of a variable'));

const grant: z.ZodMiniType<EnvironmentGrant> = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  source: z.strictObject({ env: z.strictObject({ var: variable }) }),
  expose_as_env: variable,
  for_command: z.exactOptional(
    z.string().check(z.regex(PROGRAM, 'is not the name or path of a program')),
  ),
});

const none = z.optional(
  z.array(z.unknown()).check(z.maxLength(0, 'belongs to the kind "granted"')),
);

const shape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('inherited'), grants: none }),
  z.strictObject({ kind: z.literal('isolated'), grants: none }),
  z.strictObject({ kind: z.literal('granted'), grants: z.array(grant).check(z.maxLength(100)) }),
]);

/**
 * Reads `environmentPolicy` as it comes over the wire; nothing means `inherited`. Throws `host.bad_environment` for
 * everything that is not understood whole. Source: Harn session control, session/new.
 */
export function parseEnvironmentPolicy(value: unknown): EnvironmentPolicy {
  if (value === undefined || value === null) return INHERITED;
  if (JSON.stringify(value).includes('"secret_store"'))
    throw rejected(
      'The source secret_store is not offered. Use {"env": {"var": NAME}} with a variable of the environment that agent-core was started with.',
    );
  const parsed = shape.safeParse(value);
  if (!parsed.success)
    throw rejected(
      `It is not understood:\n${z.prettifyError(parsed.error)}\nUse the kind inherited, isolated, or granted with grants of {name, source: {env: {var}}, expose_as_env, for_command?}.`,
    );
  const policy = parsed.data;
  return policy.kind === 'granted' ? policy : { kind: policy.kind };
}

/**
 * Checks that a policy can be kept on this host. Throws `host.bad_environment` if a granted variable is not there or
 * is never given to tools, or if names are taken twice.
 */
export function checkEnvironmentPolicy(policy: EnvironmentPolicy, host: NodeJS.ProcessEnv): void {
  if (policy.kind !== 'granted') return;
  const cleaned = childEnvironment(host);
  const taken = new Set<string>();
  for (const { name, source, expose_as_env: shown, for_command: program } of policy.grants) {
    const { var: from } = source.env;
    if (variableIn(host, from) === undefined)
      throw rejected(`The host has no variable ${from}, which the grant "${name}" names.`);
    if (variableIn(cleaned, from) !== variableIn(host, from))
      throw rejected(
        `The variable ${from} of the grant "${name}" belongs to the host or to a model provider and is never given to tools.`,
      );
    if (isRefused(shown) && !(shown === from && isMinimum(from)))
      throw rejected(
        `The grant "${name}" may not be shown as ${shown}: that name is kept or changes what programs run.`,
      );
    for (const each of [`grant ${name}`, `variable ${shown} for ${program ?? 'all'}`]) {
      if (taken.has(each)) throw rejected(`The ${each} is given twice.`);
      taken.add(each);
    }
  }
}

/** True if `child` shows nothing that `parent` does not. */
export function narrows(parent: EnvironmentPolicy, child: EnvironmentPolicy): boolean {
  if (parent.kind === 'inherited' || child.kind === 'isolated') return true;
  if (child.kind === 'inherited') return false;
  const allowed = parent.kind === 'granted' ? parent.grants : [];
  return child.grants.every((wanted) =>
    allowed.some(
      (given) =>
        given.source.env.var === wanted.source.env.var &&
        given.expose_as_env === wanted.expose_as_env &&
        (given.for_command === undefined || given.for_command === wanted.for_command),
    ),
  );
}

/**
 * Checks the policy that a fork asks for. Throws `ControlRefused`: `environment_rejected` where `check` throws
 * `host.bad_environment`, `environment_widened` where it shows more than its parent's.
 */
export function checkForkPolicy(
  parent: EnvironmentPolicy,
  requested: EnvironmentPolicy,
  check: (policy: EnvironmentPolicy) => void,
): void {
  try {
    check(requested);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ControlRefused('environment_rejected', error.message, {}, error);
  }
  if (!narrows(parent, requested)) throw environmentWidened(parent, requested);
}

/** The refusal of a fork whose policy shows more than its parent's. */
function environmentWidened(
  parent: EnvironmentPolicy,
  requested: EnvironmentPolicy,
): ControlRefused {
  return new ControlRefused(
    'environment_widened',
    'A fork may only narrow the environment of its session. Ask for the same policy or a narrower one.',
    {
      code: 'environment_widened',
      parentPolicy: asJson(parent),
      requestedPolicy: asJson(requested),
    },
  );
}

/**
 * What a child of a tool sees. `inherited`: the host's environment without what belongs to the editor, to this program
 * and to the providers' accounts. `isolated`: only the minimum that a shell needs to work. `granted`: that, and the
 * grants; those for one program only where `program` is that one.
 */
export function environmentFor(
  policy: EnvironmentPolicy,
  host: NodeJS.ProcessEnv,
  program: string | null = null,
): NodeJS.ProcessEnv {
  const cleaned = childEnvironment(host);
  if (policy.kind === 'inherited') return cleaned;
  const seen = minimumEnvironment(host);
  if (policy.kind === 'isolated') return seen;
  for (const { source, expose_as_env: shown, for_command: only } of policy.grants) {
    const value = variableIn(cleaned, source.env.var);
    const own = value === variableIn(host, source.env.var);
    if (value !== undefined && own && (only ?? program) === program) seen[shown] = value;
  }
  return seen;
}

/** The least that a shell, git or a search program needs; holds nothing that a person would grant. */
export function minimumEnvironment(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(host).filter(
    ([name, value]) => value !== undefined && isMinimum(name),
  );
  return childEnvironment(Object.fromEntries(kept));
}

function isMinimum(name: string): boolean {
  return MINIMUM.some((each) => each.test(name));
}

function isRefused(name: string): boolean {
  const survives = Object.hasOwn(childEnvironment({ [name]: '' }), name);
  return !survives || isMinimum(name) || REFUSED_NAMES.some((each) => each.test(name));
}

/** The value of a variable, whose case does not matter on Windows. */
function variableIn(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  if (Object.hasOwn(environment, name)) return environment[name];
  if (process.platform !== 'win32') return undefined;
  const key = Object.keys(environment).find((each) => each.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : environment[key];
}

function asJson(policy: EnvironmentPolicy): JsonObject {
  if (policy.kind !== 'granted') return { kind: policy.kind };
  return { kind: policy.kind, grants: policy.grants.map((each) => ({ ...each })) };
}

function rejected(why: string): HostError {
  return new HostError(
    'host.bad_environment',
    `The environmentPolicy was rejected, and no session was made. ${why}`,
    { data: { reason: 'environment_rejected' } },
  );
}
