import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { CodedError } from '../../base/errors.ts';
import type { SkippedPath } from '../../protocol/checkpoint-shapes.ts';
import type { AgentMethod, AgentMethods } from '../core/methods.ts';
import { skipReason } from '../rewind/plan-words.ts';
import { discardHunk, keepHunk, type StagedFile } from './staged-file.ts';

/** Calls the agent; a refusal becomes a `ControlError`. */
export type AskAgent = <M extends AgentMethod>(
  method: M,
  params: AgentMethods[M][0],
) => Promise<AgentMethods[M][1]>;

/** Writes staged files (all without `paths`); says which stayed staged because the disk changed since. */
export async function keepFiles(
  ask: AskAgent,
  sessionId: string,
  paths: readonly string[] | null,
): Promise<void> {
  const which = paths === null ? {} : { paths };
  const answer = await ask('session/fs_commit_staged', { sessionId, ...which });
  tellFailed(answer.failedPathsWithReasons);
}

/** Forgets staged files (all without `paths`); the disk stays as it is. */
export async function discardFiles(
  ask: AskAgent,
  sessionId: string,
  paths: readonly string[] | null,
): Promise<void> {
  const which = paths === null ? {} : { paths };
  await ask('session/fs_discard_staged', { sessionId, ...which });
}

/** Decides about one change of a file; the other changes stay staged. */
export async function decideHunk(
  ask: AskAgent,
  sessionId: string,
  file: StagedFile,
  id: string,
  keep: boolean,
): Promise<void> {
  const { path } = file.change;
  const decision = keep ? keepHunk(file, id) : discardHunk(file, id);
  switch (decision.kind) {
    case 'unknown':
      throw new CodedError('staged.unknown', l10n.t('This change is not staged any more.'));
    case 'whole':
      return keep ? keepFiles(ask, sessionId, [path]) : discardFiles(ask, sessionId, [path]);
    case 'edit': {
      const { disk, staged } = decision;
      const written = disk === undefined ? {} : { disk };
      await ask('_pilothouse/staged/edit', { sessionId, path, ...written, staged });
    }
  }
}

function tellFailed(failed: readonly SkippedPath[]): void {
  const [first] = failed;
  if (!first) return;
  const name = vscode.workspace.asRelativePath(first.path);
  const reason = skipReason(first.reason);
  void vscode.window.showWarningMessage(
    failed.length === 1
      ? l10n.t('{0} was not written ({1}). It stays staged: nothing is lost.', name, reason)
      : l10n.t(
          '{0} files were not written, {1} among them ({2}). They stay staged: nothing is lost.',
          failed.length,
          name,
          reason,
        ),
  );
}
