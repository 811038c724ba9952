import type { JSX } from 'preact';
import type { ChatCommand } from '../../../../src/protocol/chat-commands.ts';
import type { ChatFault } from '../../../../src/protocol/chat-fault.ts';
import { Button } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

/** Says that the session can't be saved, why, and what can be done about it. */
export function FaultBanner({ fault }: { readonly fault: ChatFault }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const run = (name: ChatCommand) => () => post({ type: 'command', name });
  return (
    <section class="waiting fault" role="alert" aria-label={strings.faultTitle}>
      <p class="fault-title">
        <Icon name="error" />
        <strong>{strings.faultTitle}</strong>
      </p>
      <p dir="auto">
        {fault.message} {fault.unsure && strings.faultUnsure}
      </p>
      <p>{strings.faultWayOut}</p>
      <div class="fault-actions">
        <Button onClick={run('reopen')}>{strings.faultTryAgain}</Button>
        <Button secondary onClick={run('restart')}>
          {strings.faultRestart}
        </Button>
        <Button secondary onClick={run('open_data_folder')}>
          {strings.faultOpenFolder}
        </Button>
      </div>
    </section>
  );
}
