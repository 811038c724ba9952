import type { PolicyRule, RememberOption, RememberScope, Workspace } from '../../session/tool.ts';
import type { Finding } from './finding.ts';
import { wholeFolder } from './path-pattern.ts';

const WHERE: Readonly<Record<RememberScope, string>> = {
  session: 'in this session',
  workspace: 'in this workspace',
  user: 'everywhere',
};

/**
 * What an answer could store so that the same is not asked again; empty if no rule could. Each option names the rules it
 * would store, and they cover no more than its label says.
 */
export function rememberOptions(
  asked: readonly Finding[],
  workspace: Workspace,
): readonly RememberOption[] {
  const exact = asked.map((finding) => finding.exact);
  if (exact.length === 0 || exact.includes(null)) return [];
  const rules = distinct(exact.flatMap((each) => each ?? []));
  const scopes: readonly RememberScope[] = ['session', 'workspace', 'user'];
  const options = scopes.map((scope) => ({
    scope,
    label: labelOf(rules, scope, workspace),
    rules,
  }));
  return [...broader(asked, workspace), ...options];
}

/** Writes of ordinary files in one workspace are usually wanted all together. */
function broader(asked: readonly Finding[], workspace: Workspace): RememberOption[] {
  const ordinary = asked.every(
    ({ subject, caution }) => subject.kind === 'write' && subject.inside && caution === undefined,
  );
  if (!ordinary) return [];
  const rules = workspace.roots.map(
    (root): PolicyRule => ({
      effect: 'allow',
      tool: '*',
      kind: 'write',
      pattern: wholeFolder(root),
    }),
  );
  return [
    {
      scope: 'session',
      label: 'Always allow changing files of the folder, in this session',
      rules,
    },
  ];
}

function labelOf(rules: readonly PolicyRule[], scope: RememberScope, workspace: Workspace): string {
  const patterns = rules.map(({ pattern }) => inFolder(pattern, workspace)).join(', ');
  const shown = patterns.length > 80 ? `${patterns.slice(0, 80)}…` : patterns;
  return `Always allow ${shown}, ${WHERE[scope]}`;
}

/** A path as a person sees it from the folder; every other pattern as it is. */
function inFolder(pattern: string, workspace: Workspace): string {
  const root = workspace.roots.find((folder) => pattern.startsWith(`${folder}/`));
  return root === undefined ? pattern : pattern.slice(root.length + 1);
}

function distinct(rules: readonly PolicyRule[]): PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
