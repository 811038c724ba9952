import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type {
  Access,
  PolicyDecision,
  PolicyRule,
  Workspace,
} from '../../../../../src/core/session/tool.ts';
import type { Mode, SessionId } from '../../../../../src/core/session/words.ts';
import {
  createPolicy,
  type RememberingPolicy,
} from '../../../../../src/core/tools/policy/create-policy.ts';
import { NO_RULES, type RuleFile } from '../../../../../src/core/tools/policy/rule-file.ts';
import { createProtectedPaths } from '../../../../../src/core/tools/protected-paths.ts';

/** A policy over a real home folder with a workspace in it, with rules that a test sets. */
export class PolicyFixture {
  readonly sessionId = 'session-1' as SessionId;
  readonly home: string;
  readonly workspace: Workspace;
  rules: RuleFile = NO_RULES;
  policy: RememberingPolicy;
  readonly #base: string;
  readonly #data: string;

  private constructor(base: string, data: string) {
    this.#data = data;
    this.#base = base;
    this.home = path.join(base, 'home');
    const cwd = path.join(this.home, 'work');
    this.workspace = { cwd, roots: [cwd] };
    this.policy = this.#create();
  }

  /** `data` is the data folder, from the home folder. */
  static async create(data = 'data'): Promise<PolicyFixture> {
    const fixture = new PolicyFixture(
      await realpath(await mkdtemp(path.join(tmpdir(), 'policy-'))),
      data,
    );
    await mkdir(fixture.inside('src'), { recursive: true });
    await mkdir(path.join(fixture.home, '.ssh'));
    await mkdir(path.join(fixture.home, data));
    await symlink(path.join(fixture.home, '.ssh'), fixture.inside('link'));
    await writeFile(fixture.inside('a.txt'), 'x');
    return fixture;
  }

  dispose(): Promise<void> {
    return rm(this.#base, { recursive: true });
  }

  /** Forgets every rule. */
  reset(): void {
    this.rules = NO_RULES;
    this.policy = this.#create();
  }

  userRules(...user: readonly PolicyRule[]): void {
    this.rules = { user, workspaces: {} };
  }

  inside(name: string): string {
    return path.join(this.workspace.cwd, name);
  }

  command(text: string): Access {
    return { kind: 'execute', command: text, cwd: this.workspace.cwd };
  }

  decide(
    mode: Mode,
    accesses: readonly Access[],
    tool = 'run',
    readOnly = false,
  ): Promise<PolicyDecision> {
    const { sessionId, workspace } = this;
    return this.policy.decide({ sessionId, workspace, mode, tool, readOnly, accesses });
  }

  async run(text: string, mode: Mode = 'ask'): Promise<PolicyDecision['decision']> {
    return (await this.decide(mode, [this.command(text)])).decision;
  }

  #create(): RememberingPolicy {
    return createPolicy({
      store: {
        rules: async () => this.rules,
        update: async (change) => {
          this.rules = change(this.rules);
        },
        problem: () => null,
      },
      home: this.home,
      protectedPaths: createProtectedPaths({
        dataFolder: path.join(this.home, this.#data),
        home: this.home,
      }),
      temporary: [],
    });
  }
}

/** A rule about commands. */
export function commandRule(effect: PolicyRule['effect'], pattern: string): PolicyRule {
  return { effect, tool: '*', kind: 'execute', pattern };
}
