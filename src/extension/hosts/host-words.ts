import * as l10n from '@vscode/l10n';
import { CodedError, codeOf, messageOf } from '../../base/errors.ts';
import type { AgentState } from '../core/agent.ts';
import { outageOf } from '../core/offline-words.ts';
import type { AddedHost } from './host.ts';

/** What a host is doing, as lists show it. */
export type HostState = 'off' | 'connecting' | 'connected' | 'reconnecting' | 'offline' | 'refused';

/** Reads it from the state of the host's process. */
export function hostState(state: AgentState): HostState {
  switch (state.kind) {
    case 'stopped':
    case 'closed':
      return 'off';
    case 'starting':
      return 'connecting';
    case 'ready':
      return 'connected';
    case 'restarting':
      return 'reconnecting';
    case 'failed':
      return state.signedOut === true ? 'refused' : 'offline';
  }
}

/** The state in few words. */
export function hostStateWord(state: HostState): string {
  switch (state) {
    case 'off':
      return l10n.t('not connected');
    case 'connecting':
      return l10n.t('connecting…');
    case 'connected':
      return l10n.t('connected');
    case 'reconnecting':
      return l10n.t('offline, connecting again');
    case 'offline':
      return l10n.t('offline');
    case 'refused':
      return l10n.t('token refused');
  }
}

/** What a control of a session answers whose host can't be reached: what happened and what to do. */
export function offlineError(host: AddedHost, cause: unknown): CodedError {
  if (codeOf(cause) === 'agent.closed' || codeOf(cause) === 'workspace.untrusted')
    return new CodedError(codeOf(cause) ?? '', messageOf(cause), { cause });
  const isRefused = outageOf(cause, '').signedOut === true;
  const words = isRefused ? refusedWords(host.name) : offlineWords(host.name, messageOf(cause));
  return new CodedError(isRefused ? 'host.refused' : 'host.offline', words, {
    cause,
    retryable: !isRefused,
    data: { hostId: host.id },
  });
}

/** Says that a host is not reached, why, and what to do. */
export function offlineWords(name: string, reason: string): string {
  return l10n.t(
    '“{0}” is offline: {1} Use Retry Host when it can be reached.',
    name,
    sentence(reason),
  );
}

/** Says that a host wants another token, and what to do. */
export function refusedWords(name: string): string {
  return l10n.t('“{0}” did not take the token. Use Set Host Token to enter another one.', name);
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
