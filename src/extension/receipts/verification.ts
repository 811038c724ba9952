import * as l10n from '@vscode/l10n';
import type { ChainResult } from '../../protocol/receipts-view.ts';

/** What the agent answers about one chain. */
export type Verified = {
  readonly ok: boolean;
  readonly eventId?: number;
  readonly reason?: string;
};

/** Asks the agent to check one chain of a session. */
export type VerifyChain = (stream: 'history' | 'control') => Promise<Verified>;

/** Checks both chains of a session. Rejects if the agent can't be asked. */
export async function verifyBoth(verify: VerifyChain): Promise<ChainResult[]> {
  const [history, control] = await Promise.all([verify('history'), verify('control')]);
  return [chainResult(l10n.t('Conversation'), history), chainResult(l10n.t('Receipts'), control)];
}

/** Checks the chain of the host's own receipts. */
export async function verifyHost(verify: VerifyChain): Promise<ChainResult[]> {
  return [chainResult(l10n.t('Receipts'), await verify('control'))];
}

/** A chain's result in a sentence. */
export function chainResult(name: string, { ok, eventId, reason }: Verified): ChainResult {
  if (ok) return { name, ok, text: l10n.t('whole: every record fits its hash') };
  const why = reason === undefined || reason === '' ? '' : ` (${reason})`;
  const text =
    eventId === undefined
      ? l10n.t('broken{0}', why)
      : l10n.t('broken at record {0}{1}: it or one before it was changed', eventId, why);
  return { name, ok, text };
}
