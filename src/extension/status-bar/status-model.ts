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
  readonly command: string;
  readonly background: 'warning' | 'error' | null;
};

/** What runs and what stops it. */
export function runningItem(input: StatusBarInput): StatusItem | null {
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
  command: string,
  background: StatusItem['background'],
): StatusItem {
  return { text, tooltip, label: tooltip, command, background };
}
