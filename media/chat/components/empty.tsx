import type { JSX } from 'preact';
import type { ChatStatus } from '../../../src/protocol/chat.ts';
import type { Strings } from '../strings.ts';
import { Button } from './shared/buttons.tsx';
import { useServices, useStrings } from './shared/context.ts';
import { Icon } from './shared/icon.tsx';

type CommandName = 'new_session' | 'restart' | 'show_log' | 'manage_trust' | 'open_folder';
type Message = {
  readonly icon: string;
  readonly title: string;
  readonly body: string;
  readonly actions: readonly { readonly label: string; readonly command: CommandName }[];
};

/** What stands in place of a conversation, or above the composer while there is one (`compact`). */
export function Empty({
  status,
  compact = false,
}: {
  readonly status: ChatStatus;
  readonly compact?: boolean;
}): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const message = messageFor(status, strings);
  return (
    <div class={compact ? 'banner' : 'empty'} role={compact ? 'status' : undefined}>
      <h2 class="empty-title">
        <Icon name={message.icon} spin={status.activity === 'starting'} />
        {message.title}
      </h2>
      <p>{message.body}</p>
      {message.actions.length > 0 && (
        <div class="empty-actions">
          {message.actions.map(({ label, command }, position) => (
            <Button
              key={command}
              secondary={position > 0}
              onClick={() => post({ type: 'command', name: command })}
            >
              {label}
            </Button>
          ))}
        </div>
      )}
      {!compact && status.rehearsal && isOpen(status) && <RehearsalHelp />}
    </div>
  );
}

/** True where a person may begin to type a prompt. */
function isOpen(status: ChatStatus): boolean {
  return status.activity === 'none' || status.activity === 'idle';
}

function RehearsalHelp(): JSX.Element {
  const strings = useStrings();
  const { store } = useServices();
  const insert = (): void =>
    store.dispatch({ type: 'compose', text: strings.emptyRehearsalScript, focus: true });
  return (
    <div class="rehearsal-help">
      <p>{strings.emptyRehearsalBody}</p>
      <pre class="script" dir="auto">
        {strings.emptyRehearsalScript}
      </pre>
      <Button secondary onClick={insert}>
        {strings.emptyRehearsalInsert}
      </Button>
    </div>
  );
}

function messageFor(status: ChatStatus, strings: Strings): Message {
  switch (status.activity) {
    case 'none':
      return {
        icon: 'comment-discussion',
        title: strings.emptyNoneTitle,
        body: strings.emptyNoneBody,
        actions: [{ label: strings.newSession, command: 'new_session' }],
      };
    case 'untrusted':
      return {
        icon: 'shield',
        title: strings.emptyUntrustedTitle,
        body: strings.emptyUntrustedBody,
        actions: [{ label: strings.emptyUntrustedAction, command: 'manage_trust' }],
      };
    case 'no_folder':
      return {
        icon: 'folder',
        title: strings.emptyNoFolderTitle,
        body: strings.emptyNoFolderBody,
        actions: [{ label: strings.emptyNoFolderAction, command: 'open_folder' }],
      };
    case 'offline':
      return {
        icon: 'debug-disconnect',
        title:
          status.hostName === undefined ? strings.emptyOfflineTitle : strings.emptyHostOfflineTitle,
        body: status.offlineReason ?? strings.emptyOfflineBody,
        actions: [
          {
            label:
              status.hostName === undefined ? strings.emptyOfflineRestart : strings.emptyHostRetry,
            command: 'restart',
          },
          { label: strings.emptyOfflineLog, command: 'show_log' },
        ],
      };
    case 'starting':
      return {
        icon: 'loading',
        title: strings.emptyStartingTitle,
        body: strings.emptyStartingBody,
        actions: [],
      };
    case 'idle':
    case 'running':
    case 'waiting':
    case 'stopping':
      return {
        icon: 'comment-discussion',
        title: strings.emptySessionTitle,
        body: strings.emptySessionBody,
        actions: [],
      };
  }
}
