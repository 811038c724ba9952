import * as l10n from '@vscode/l10n';

/** What the status bar is made from. */
export type StatusBarInput = {
  readonly running: readonly { readonly sessionId: string; readonly name: string }[];
  readonly stopping: readonly { readonly sessionId: string; readonly name: string }[];
  readonly openGates: number;
  /** Why the agent process is not running although it should be; null if all is well. */
  readonly offline: string | null;
  readonly showIdle: boolean;
};

/** One status bar item; null hides it. */
export type StatusItem = {
  readonly text: string;
  readonly tooltip: string;
  /** What a screen reader says. */
  readonly label: string;
  /** What a press does; null: nothing. */
  readonly command: string | null;
  readonly background: 'warning' | 'error' | null;
};

/** True where the last turn that was being stopped has ended. */
export function hasSettled(before: StatusBarInput, now: StatusBarInput): boolean {
  return before.stopping.length > 0 && now.stopping.length === 0 && now.running.length === 0;
}

/**
 * What runs and what stops it. `justStopped`: a stop has settled a moment ago; the item keeps its place, so that one
 * more press does not hit its neighbour.
 */
export function runningItem(input: StatusBarInput, justStopped = false): StatusItem | null {
  const { running, stopping } = input;
  if (input.offline !== null)
    return item(
      '$(debug-disconnect) Pilothouse',
      input.offline,
      'pilothouse.restartAgent',
      'error',
    );
  if (running.length > 0) {
    const names = running.map(({ name }) => name).join(', ');
    const text = l10n.t('{0} running', running.length);
    const what =
      running.length === 1
        ? l10n.t('Stop {0}', names)
        : l10n.t('Running: {0}. Choose which to stop.', names);
    return item(`$(sync~spin) ${text} $(debug-stop)`, what, 'pilothouse.stop', null);
  }
  if (stopping.length > 0) {
    const names = stopping.map(({ name }) => name).join(', ');
    const tooltip = l10n.t('Stopping {0}. Press again to repeat the request.', names);
    return item(`$(loading~spin) ${l10n.t('Stopping…')}`, tooltip, 'pilothouse.stop', null);
  }
  if (justStopped) return item(`$(check) ${l10n.t('Stopped')}`, l10n.t('Stopped'), null, null);
  return input.showIdle
    ? item('$(compass) Pilothouse', l10n.t('Open the chat'), 'pilothouse.focusChat', null)
    : null;
}

/** What waits for a person. */
export function waitingItem({ openGates }: StatusBarInput): StatusItem | null {
  if (openGates === 0) return null;
  const tooltip =
    openGates === 1
      ? l10n.t('A session waits for your answer')
      : l10n.t('{0} questions wait for your answer', openGates);
  return item(`$(bell-dot) ${openGates}`, tooltip, 'pilothouse.showApprovals', 'warning');
}

function item(
  text: string,
  tooltip: string,
  command: string | null,
  background: StatusItem['background'],
): StatusItem {
  return { text, tooltip, label: tooltip, command, background };
}
