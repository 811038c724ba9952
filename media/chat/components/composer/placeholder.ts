import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { format, type Strings } from '../../strings.ts';

/** What Enter does now, for the empty composer. */
export function placeholderFor(status: ChatStatus, strings: Strings): string {
  const { talksTo, activity } = status;
  if (status.company?.reading !== undefined) return strings.placeholderReading;
  if (talksTo !== undefined && canSend(status))
    return format(strings.placeholderDelegate, talksTo.name);
  switch (activity) {
    case 'none':
      return strings.placeholderNone;
    case 'idle':
      return strings.placeholderIdle;
    case 'running':
      if (status.compacting === true) return strings.compacting;
      return RUNNING[status.runningSend](strings);
    case 'stopping':
      return strings.placeholderStopping;
    case 'waiting':
      return strings.placeholderWaiting;
    case 'starting':
      return strings.placeholderStarting;
    case 'offline':
      return strings.placeholderOffline;
    case 'untrusted':
      return strings.placeholderUntrusted;
    case 'no_folder':
      return strings.placeholderNoFolder;
  }
}

const RUNNING: Readonly<Record<ChatStatus['runningSend'], (strings: Strings) => string>> = {
  prompt: (strings) => strings.placeholderNext,
  steer: (strings) => strings.placeholderSteer,
  next: (strings) => strings.placeholderNext,
  interrupt: (strings) => strings.placeholderInterrupt,
  note: (strings) => strings.placeholderNote,
};

/** True where a prompt can be handed over now; else the text waits in the composer. */
export function canSend({ activity, company }: Pick<ChatStatus, 'activity' | 'company'>): boolean {
  if (company?.reading !== undefined) return false;
  return !['starting', 'offline', 'untrusted', 'no_folder'].includes(activity);
}
