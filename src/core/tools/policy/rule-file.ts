import { z } from 'zod';
import type { PolicyRule } from '../../session/tool.ts';

const ruleSchema = z.object({
  effect: z.enum(['allow', 'ask', 'deny']),
  tool: z.string(),
  kind: z.enum(['read', 'write', 'execute', 'fetch', 'external', 'session', '*']),
  pattern: z.string(),
});
const fileSchema = z.object({
  version: z.literal(1),
  user: z.array(ruleSchema),
  workspaces: z.record(z.string(), z.array(ruleSchema)),
});

/** The stored rules: a person's own, and those of each workspace by its folder. */
export type RuleFile = {
  readonly user: readonly PolicyRule[];
  readonly workspaces: Readonly<Record<string, readonly PolicyRule[]>>;
};

/** What a rule file holds. `broken` says that it is not as it should be, and that only what restricts was kept. */
export type ReadRules = { readonly rules: RuleFile; readonly broken: boolean };

/** No rules. */
export const NO_RULES: RuleFile = { user: [], workspaces: {} };

/** Reads the text of a rule file. From a broken one every rule that denies or asks is kept, for every workspace. */
export function readRuleFile(text: string): ReadRules {
  const parsed = fileSchema.safeParse(parseJson(text));
  if (parsed.success) {
    const { user, workspaces } = parsed.data;
    return { rules: { user, workspaces }, broken: false };
  }
  const restricting = salvage(text).filter(({ effect }) => effect !== 'allow');
  return { rules: { user: restricting, workspaces: {} }, broken: true };
}

/** Writes a rule file. */
export function writeRuleFile(rules: RuleFile): string {
  return `${JSON.stringify({ version: 1, ...rules }, null, 2)}\n`;
}

/** A rule is a flat object, so each can be found without understanding what is around it. */
function salvage(text: string): PolicyRule[] {
  return [...text.matchAll(/\{[^{}]*\}/g)].flatMap(([piece]) => {
    const rule = ruleSchema.safeParse(parseJson(piece));
    return rule.success ? [rule.data] : [];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
