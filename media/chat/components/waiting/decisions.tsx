import type { JSX } from 'preact';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { format, type Strings } from '../../strings.ts';
import { TalkBar } from '../delegates/talk-bar.tsx';
import { LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { FaultBanner } from './fault-banner.tsx';
import { ReadingBar } from './reading-bar.tsx';

/** Reading only, a store that fails, edits that wait for a review, a rollback that can be redone, and a delegate that is spoken to. */
export function Decisions({ status }: { readonly status: ChatStatus }): JSX.Element {
  const { staged, canRedo, fault, talksTo, company } = status;
  return (
    <>
      {company?.reading !== undefined && <ReadingBar words={company.reading} />}
      {fault !== undefined && <FaultBanner fault={fault} />}
      {staged !== null && (staged.files > 0 || staged.on) && <StagedBar staged={staged} />}
      {canRedo && <RedoBar />}
      {talksTo !== undefined && <TalkBar talksTo={talksTo} />}
    </>
  );
}

type StagedProps = { readonly staged: NonNullable<ChatStatus['staged']> };

function StagedBar({ staged }: StagedProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <div class="waiting decisions staged" role="status">
      <Icon name="diff-multiple" />
      <span class="decisions-text">{stagedText(staged, strings)}</span>
      {staged.files > 0 && (
        <span class="decisions-actions">
          <LinkButton onClick={() => post({ type: 'command', name: 'show_staged' })}>
            {strings.stagedReview}
          </LinkButton>
          <LinkButton onClick={() => post({ type: 'command', name: 'keep_staged' })}>
            {strings.stagedKeep}
          </LinkButton>
          <LinkButton onClick={() => post({ type: 'command', name: 'discard_staged' })}>
            {strings.stagedDiscard}
          </LinkButton>
        </span>
      )}
    </div>
  );
}

function stagedText({ files }: StagedProps['staged'], strings: Strings): string {
  if (files === 0) return strings.stagedNone;
  return files === 1 ? strings.stagedOne : format(strings.stagedMany, files);
}

function RedoBar(): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <div class="waiting decisions redo" role="status">
      <Icon name="discard" />
      <span class="decisions-text">{strings.redoOffer}</span>
      <span class="decisions-actions">
        <LinkButton onClick={() => post({ type: 'command', name: 'redo' })}>
          {strings.redo}
        </LinkButton>
      </span>
    </div>
  );
}
