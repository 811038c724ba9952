import { tmpdir } from 'node:os';
import type {
  Access,
  Policy,
  PolicyDecision,
  PolicyRule,
  RememberOption,
  RememberScope,
  Workspace,
} from '../../session/tool.ts';
import type { SessionId } from '../../session/words.ts';
import { diskLinks } from '../files/disk.ts';
import type { LinkReader } from '../files/resolve-path.ts';
import { bothNames, type ProtectedPaths } from '../protected-paths.ts';
import type { Finding } from './finding.ts';
import { findingsOf } from './findings.ts';
import type { PolicyStore } from './policy-store.ts';
import { rememberOptions } from './remember.ts';
import { judge, type Verdict } from './verdict.ts';

/** A remembered rule and how far it reaches. */
export type ScopedRule = { readonly scope: RememberScope; readonly rule: PolicyRule };

/** A policy whose remembered rules can be looked at and taken back. */
export interface RememberingPolicy extends Policy {
  /** The rules that apply in a session, narrowest scope first. */
  listRules(sessionId: SessionId, workspace: Workspace): Promise<readonly ScopedRule[]>;
  /** Forgets the rules of one scope: of this session, of this workspace, or the person's own. */
  resetRules(scope: RememberScope, sessionId: SessionId, workspace: Workspace): Promise<void>;
  /** Forgets what was remembered for a session, when it is closed. */
  forgetSession(sessionId: SessionId): void;
  /** What is wrong with the stored rules, for a person; null if nothing. */
  problem(): string | null;
}

/** The system's folders for temporary files. */
const TEMPORARY = ['/tmp', '/var/tmp', tmpdir()].flatMap(bothNames);

/** What the policy needs. */
export type PolicyOptions = {
  readonly store: PolicyStore;
  readonly protectedPaths: ProtectedPaths;
  readonly home: string;
  /** Folders for temporary files, canonical; the system's unless given. */
  readonly temporary?: readonly string[];
  readonly links?: LinkReader;
  readonly posixShell?: boolean;
};

/** Makes the policy that stands before every tool; `judge` has the table of what it decides. */
export function createPolicy(options: PolicyOptions): RememberingPolicy {
  return new RulePolicy(options);
}

class RulePolicy implements RememberingPolicy {
  readonly #options: PolicyOptions;
  readonly #session = new Map<SessionId, readonly PolicyRule[]>();

  constructor(options: PolicyOptions) {
    this.#options = options;
  }

  async decide(call: Parameters<Policy['decide']>[0]): Promise<PolicyDecision> {
    const rules = (await this.listRules(call.sessionId, call.workspace)).map(({ rule }) => rule);
    const findings = await this.#findings(call.accesses, call.workspace);
    const judged = findings.map((finding) => ({ finding, verdict: judge(finding, call, rules) }));
    const asked = judged.filter(({ verdict }) => verdict.effect === 'ask');
    const first = (effect: Verdict['effect']): Verdict | undefined =>
      judged.find(({ verdict }) => verdict.effect === effect)?.verdict;
    const denied = first('deny');
    if (denied !== undefined) return { decision: 'deny', reason: denied.reason };
    const proposed = first('propose');
    if (proposed !== undefined) return { decision: 'propose', reason: proposed.reason };
    const ask = first('ask');
    if (ask !== undefined)
      return {
        decision: 'ask',
        reason: ask.reason,
        details: [...new Set(findings.map(({ detail }) => detail))],
        remember: rememberOptions(
          asked.map(({ finding }) => finding),
          call.workspace,
        ),
      };
    return { decision: 'allow', reason: first('allow')?.reason ?? 'It touches nothing.' };
  }

  async remember(
    sessionId: SessionId,
    workspace: Workspace,
    option: RememberOption,
    effect: 'allow' | 'deny',
  ): Promise<void> {
    const rules = option.rules.map((rule): PolicyRule => ({ ...rule, effect }));
    await this.#change(option.scope, sessionId, workspace, (old) => [
      ...old.filter((rule) => !rules.some((each) => same(each, rule))),
      ...rules,
    ]);
  }

  async listRules(sessionId: SessionId, workspace: Workspace): Promise<readonly ScopedRule[]> {
    const stored = await this.#options.store.rules();
    const scoped = (scope: RememberScope, rules: readonly PolicyRule[] = []): ScopedRule[] =>
      rules.map((rule) => ({ scope, rule }));
    return [
      ...scoped('session', this.#session.get(sessionId)),
      ...scoped('workspace', ownRules(stored.workspaces, workspace.cwd)),
      ...scoped('user', stored.user),
    ];
  }

  async resetRules(
    scope: RememberScope,
    sessionId: SessionId,
    workspace: Workspace,
  ): Promise<void> {
    await this.#change(scope, sessionId, workspace, () => []);
  }

  forgetSession(sessionId: SessionId): void {
    this.#session.delete(sessionId);
  }

  problem(): string | null {
    return this.#options.store.problem();
  }

  async #change(
    scope: RememberScope,
    sessionId: SessionId,
    workspace: Workspace,
    change: (rules: readonly PolicyRule[]) => readonly PolicyRule[],
  ): Promise<void> {
    if (scope === 'session') {
      this.#session.set(sessionId, change(this.#session.get(sessionId) ?? []));
      return;
    }
    await this.#options.store.update((stored) => {
      if (scope === 'user') return { ...stored, user: change(stored.user) };
      const rules = change(ownRules(stored.workspaces, workspace.cwd) ?? []);
      return { ...stored, workspaces: { ...stored.workspaces, [workspace.cwd]: rules } };
    });
  }

  async #findings(accesses: readonly Access[], workspace: Workspace): Promise<readonly Finding[]> {
    const { home, protectedPaths } = this.#options;
    const surroundings = {
      workspace,
      home,
      protectedPaths,
      temporary: this.#options.temporary ?? TEMPORARY,
      links: this.#options.links ?? diskLinks,
      posixShell: this.#options.posixShell ?? process.platform !== 'win32',
    };
    const found = await Promise.all(accesses.map((access) => findingsOf(access, surroundings)));
    if (accesses.length > 0) return found.flat();
    // Deny by default: a call that does not say what it touches has to be asked about.
    return [
      {
        subject: { kind: 'unknown' },
        detail: 'a tool that does not say what it touches',
        caution: 'it does not say what it touches',
        exact: null,
      },
    ];
  }
}

function ownRules(
  workspaces: Readonly<Record<string, readonly PolicyRule[]>>,
  key: string,
): readonly PolicyRule[] | undefined {
  return Object.hasOwn(workspaces, key) ? workspaces[key] : undefined;
}

function same(a: PolicyRule, b: PolicyRule): boolean {
  return a.effect === b.effect && a.tool === b.tool && a.kind === b.kind && a.pattern === b.pattern;
}
