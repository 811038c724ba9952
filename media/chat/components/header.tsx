import type { JSX } from 'preact';
import type { ChatStatus } from '../../../src/protocol/chat.ts';
import { isBusy, isStopping } from '../state/stop.ts';
import type { ViewState } from '../state/view-state.ts';
import { format, type Strings } from '../strings.ts';
import { IconButton } from './shared/buttons.tsx';
import { useServices, useStrings } from './shared/context.ts';
import { Icon } from './shared/icon.tsx';

/** What is shown of a session at all times: title, folder, what it is doing, Stop and New. */
export function Header({ view }: { readonly view: ViewState }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const { status } = view;
  const hasSession = status.sessionId !== null;
  return (
    <header class="header" data-session={status.sessionId ?? ''}>
      <div class="header-main">
        <h1 class="title" title={status.title} dir="auto">
          {hasSession ? status.title || strings.untitled : strings.activityNone}
        </h1>
        <div class="header-line">
          {status.activity !== 'none' && (
            <Activity status={status} stopping={isStopping(view.stop, status)} />
          )}
          {status.cwd !== '' && (
            <span class="cwd" title={onHost(status, status.cwd)}>
              <Icon name="folder" />
              <span class="cwd-name">{onHost(status, baseName(status.cwd))}</span>
            </span>
          )}
          {status.company !== undefined && status.company.others !== '' && (
            <span class="company" title={status.company.others}>
              <Icon name="multiple-windows" />
              <span class="company-words">{status.company.others}</span>
            </span>
          )}
          {status.rehearsal && (
            <span class="badge" title={strings.rehearsalTooltip}>
              {strings.rehearsal}
            </span>
          )}
        </div>
      </div>
      <StopButton view={view} />
      <IconButton
        icon="add"
        label={strings.newSession}
        onClick={() => post({ type: 'command', name: 'new_session' })}
      />
    </header>
  );
}

function StopButton({ view }: { readonly view: ViewState }): JSX.Element | null {
  const strings = useStrings();
  const { post, store } = useServices();
  const stopping = isStopping(view.stop, view.status);
  const isWorking = (view.status.delegatesAtWork ?? []).length > 0;
  // Who only reads can stop nothing.
  if (view.status.company?.reading !== undefined) return null;
  if (!stopping && !isBusy(view.status) && !isWorking) return null;
  return (
    <button
      type="button"
      class="stop"
      aria-disabled={stopping}
      onClick={() => {
        // A second press could reach the next turn: it is not sent.
        if (isStopping(store.get().stop, store.get().status)) return;
        store.dispatch({ type: 'local_stop' });
        post({ type: 'stop' });
      }}
    >
      <Icon name={stopping ? 'loading' : 'debug-stop'} spin={stopping} />
      {stopping ? strings.stopping : strings.stop}
    </button>
  );
}

type ActivityProps = { readonly status: ChatStatus; readonly stopping: boolean };

function Activity({ status, stopping }: ActivityProps): JSX.Element {
  const strings = useStrings();
  const { icon, spin, word } =
    delegatesLook(status, strings) ??
    activityLook(stopping ? 'stopping' : status.activity, strings);
  return (
    <span class={`activity activity-${status.activity}`}>
      <Icon name={icon} spin={spin} />
      {word}
    </span>
  );
}

type Look = { readonly icon: string; readonly spin: boolean; readonly word: string };

/** A session at rest whose delegates are not. */
function delegatesLook(
  { activity, delegatesAtWork = [] }: ChatStatus,
  strings: Strings,
): Look | null {
  if (activity !== 'idle' || delegatesAtWork.length === 0) return null;
  const word =
    delegatesAtWork.length === 1
      ? strings.activityDelegate
      : format(strings.activityDelegates, delegatesAtWork.length);
  return { icon: 'loading', spin: true, word };
}

function activityLook(activity: ChatStatus['activity'], strings: Strings): Look {
  const looks: Readonly<Record<ChatStatus['activity'], Look>> = {
    none: { icon: 'circle-outline', spin: false, word: strings.activityNone },
    starting: { icon: 'loading', spin: true, word: strings.activityStarting },
    idle: { icon: 'check', spin: false, word: strings.activityIdle },
    running: { icon: 'loading', spin: true, word: strings.activityRunning },
    waiting: { icon: 'bell-dot', spin: false, word: strings.activityWaiting },
    stopping: { icon: 'loading', spin: true, word: strings.activityStopping },
    offline: { icon: 'debug-disconnect', spin: false, word: strings.activityOffline },
    untrusted: { icon: 'shield', spin: false, word: strings.activityUntrusted },
    no_folder: { icon: 'folder', spin: false, word: strings.activityNoFolder },
  };
  return looks[activity];
}

function baseName(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path;
}

/** A place, with its host where that is not the window's own. */
function onHost({ hostName }: ChatStatus, place: string): string {
  return hostName === undefined ? place : `${hostName}: ${place}`;
}
