import type { PolicyRule } from '../../session/tool.ts';
import { type MatchableWord, matchesCommand } from './commands/command-pattern.ts';
import { matchesPath } from './path-pattern.ts';
import { matchesUrl } from './url-pattern.ts';

/** One thing that a call would do, small enough for a rule to be about it. */
export type Subject =
  | {
      readonly kind: 'read' | 'write';
      readonly path: string;
      readonly inside: boolean;
      readonly place: { readonly cwd: string; readonly home: string };
    }
  | { readonly kind: 'execute'; readonly words: readonly MatchableWord[] }
  | { readonly kind: 'fetch'; readonly url: string }
  | { readonly kind: 'external'; readonly server: string; readonly tool: string }
  | { readonly kind: 'session' }
  /** Something that can't be told beforehand. */
  | { readonly kind: 'unknown' };

/** A subject, and what is known about it before the rules are asked. */
export type Finding = {
  readonly subject: Subject;
  /** As a person reads it. */
  readonly detail: string;
  /** Set: no mode and no rule can allow it. */
  readonly floor?: string;
  /** Set: a person is asked even where the mode would allow it. */
  readonly caution?: string;
  /** True if only a rule that names the subject whole can allow it. */
  readonly onlyExact?: boolean;
  /** The rules that would allow exactly this from now on; null if none can. */
  readonly exact: readonly PolicyRule[] | null;
};

/** True if a stored rule is about the subject. */
export function ruleMatches(rule: PolicyRule, tool: string, finding: Finding): boolean {
  if (rule.tool !== '*' && rule.tool !== tool) return false;
  if (rule.kind !== '*' && rule.kind !== finding.subject.kind) return false;
  if (rule.effect === 'allow' && !mayAllow(rule, finding)) return false;
  return patternMatches(rule, finding.subject);
}

function patternMatches(rule: PolicyRule, subject: Subject): boolean {
  if (subject.kind === 'execute') return matchesWords(rule, subject.words);
  if (rule.pattern === '*') return true;
  switch (subject.kind) {
    case 'read':
    case 'write':
      return matchesPath(rule.pattern, subject.path, subject.place);
    case 'fetch':
      return matchesUrl(rule.pattern, subject.url);
    case 'external':
      return matchesExternal(rule.pattern, subject.server, subject.tool);
    case 'session':
    case 'unknown':
      return false;
  }
}

function mayAllow(rule: PolicyRule, finding: Finding): boolean {
  if (finding.subject.kind === 'unknown') return false;
  return (
    finding.onlyExact !== true || finding.exact?.some((e) => e.pattern === rule.pattern) === true
  );
}

/** A rule that denies or asks is taken widely: `rm *` is also about `/bin/rm`, and about words not yet known. */
function matchesWords(rule: PolicyRule, words: readonly MatchableWord[]): boolean {
  if (rule.effect === 'allow') return matchesCommand(rule.pattern, words);
  const loose = words.map((word, index) => ({
    ...word,
    onlyExact: false,
    value: index === 0 ? (word.value?.split('/').at(-1) ?? null) : word.value,
  }));
  return (
    matchesCommand(
      rule.pattern,
      words.map((word) => ({ ...word, onlyExact: false })),
    ) || matchesCommand(rule.pattern, loose)
  );
}

function matchesExternal(pattern: string, server: string, tool: string): boolean {
  return pattern === `${server}/${tool}` || pattern === `${server}/*`;
}
