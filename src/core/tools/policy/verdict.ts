import type { PolicyRule } from '../../session/tool.ts';
import type { Mode } from '../../session/words.ts';
import { isNeutral } from './commands/known-commands.ts';
import { type Finding, ruleMatches } from './finding.ts';

/** What is decided about one finding. */
export type Verdict = {
  readonly effect: 'allow' | 'ask' | 'deny' | 'propose';
  readonly reason: string;
};

const MODE_NAMES: Readonly<Record<Mode, string>> = {
  ask: 'Ask',
  architect: 'Architect',
  code: 'Code',
  shadow: 'Shadow',
};

const ASKED: Readonly<Record<Finding['subject']['kind'], string>> = {
  read: 'reading this file',
  write: 'files are changed',
  execute: 'commands are run',
  fetch: 'the network is used',
  external: 'external tools are used',
  session: 'the session is changed',
  unknown: 'this is run',
};

/**
 * Decides about one finding. The first line that applies wins:
 *
 * 1. the deny floor: deny;
 * 2. a stored rule that denies: deny;
 * 3. what the mode never does: `architect` denies writes and commands, `shadow` proposes them;
 * 4. a stored rule that asks: ask;
 * 5. a stored rule that allows (one that names it whole, where caution is due): allow;
 * 6. the mode:
 *
 * |                                       | ask   | architect       | code  | shadow  |
 * |---------------------------------------|-------|-----------------|-------|---------|
 * | read inside the workspace             | allow | allow           | allow | allow   |
 * | read what may hold secrets, outside   | ask   | ask             | ask   | ask     |
 * | write inside the workspace            | ask   | deny            | allow | propose |
 * | write an editor setting, outside      | ask   | deny            | ask   | propose |
 * | ordinary command                      | ask   | deny            | allow | propose |
 * | command that uses the network, wants more rights, removes folders, names outside paths, or can't be told | ask | deny | ask | propose |
 * | fetch                                 | ask   | ask             | ask   | propose |
 * | external tool                         | ask   | deny (ask if it says it only reads) | ask | propose |
 * | plan, ask, own background processes   | allow | allow           | allow | allow   |
 */
export function judge(
  finding: Finding,
  call: { readonly mode: Mode; readonly tool: string; readonly readOnly: boolean },
  rules: readonly PolicyRule[],
): Verdict {
  if (finding.floor !== undefined)
    return { effect: 'deny', reason: `Never allowed: ${finding.floor}.` };
  const matching = rules.filter((rule) => ruleMatches(rule, call.tool, finding));
  if (matching.some(({ effect }) => effect === 'deny'))
    return { effect: 'deny', reason: `A stored rule denies it: ${finding.detail}.` };
  const never = ceiling(finding, call);
  if (never !== null) return never;
  if (matching.some(({ effect }) => effect === 'ask'))
    return { effect: 'ask', reason: `A stored rule wants it asked: ${finding.detail}.` };
  if (matching.some(({ effect }) => effect === 'allow'))
    return { effect: 'allow', reason: `A stored rule allows it: ${finding.detail}.` };
  return byMode(finding, call.mode);
}

function ceiling(finding: Finding, call: { mode: Mode; readOnly: boolean }): Verdict | null {
  const { kind } = finding.subject;
  if (kind === 'session' || kind === 'read') return null;
  if (call.mode === 'shadow')
    return { effect: 'propose', reason: 'In shadow mode effects are only proposed.' };
  if (call.mode !== 'architect' || kind === 'fetch' || (kind === 'external' && call.readOnly))
    return null;
  return {
    effect: 'deny',
    reason:
      'In architect mode nothing is changed and nothing is run. Plan it instead, or ask the person to switch the mode.',
  };
}

function byMode(finding: Finding, mode: Mode): Verdict {
  const { subject, detail, caution } = finding;
  if (subject.kind === 'session')
    return { effect: 'allow', reason: 'It touches only the session.' };
  if (caution !== undefined) return { effect: 'ask', reason: `${detail}: ${caution}.` };
  if (subject.kind === 'read')
    return { effect: 'allow', reason: 'Reading in the workspace is allowed.' };
  if (subject.kind === 'execute' && isNeutral(subject.words))
    return { effect: 'allow', reason: 'It has no effect of its own.' };
  if (mode === 'code' && (subject.kind === 'write' || subject.kind === 'execute'))
    return { effect: 'allow', reason: 'In code mode work inside the workspace is allowed.' };
  return { effect: 'ask', reason: `${MODE_NAMES[mode]} mode asks before ${ASKED[subject.kind]}.` };
}
