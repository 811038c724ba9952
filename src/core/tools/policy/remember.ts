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
  const options = scopes.map((scope) => ({ scope, label: labelOf(rules, scope), rules }));
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
  return [{ scope: 'session', label: 'Every file of the workspace, in this session', rules }];
}

function labelOf(rules: readonly PolicyRule[], scope: RememberScope): string {
  const patterns = rules.map(({ pattern }) => pattern).join(', ');
  const shown = patterns.length > 80 ? `${patterns.slice(0, 80)}…` : patterns;
  return `${shown}, ${WHERE[scope]}`;
}

function distinct(rules: readonly PolicyRule[]): PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
