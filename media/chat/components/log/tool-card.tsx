import type { JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChatTool } from '../../../../src/protocol/chat.ts';
import { format } from '../../strings.ts';
import { DelegateCard } from '../delegates/delegate-card.tsx';
import { IconButton, LinkButton } from '../shared/buttons.tsx';
import { StagedPathsContext, useServices, useStrings } from '../shared/context.ts';
import { LoopContext, NestedContext } from '../shared/delegate-context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';
import { Pictures } from '../shared/pictures.tsx';
import { ScrollPane } from '../shared/scroll-pane.tsx';
import { DiffView } from './diff-view.tsx';
import { OutputPane } from './output-pane.tsx';
import { PathText } from './path-text.tsx';
import { kindIcon, stagedLook, statusLook } from './tool-words.ts';

/** A tool call: what it does, how it stands, and, opened, all it was given and gave. */
export function ToolCard({ tool }: { readonly tool: ChatTool }): JSX.Element {
  const { delegate } = tool;
  return delegate === undefined ? (
    <PlainCard tool={tool} />
  ) : (
    <DelegateCard tool={tool} delegate={delegate} />
  );
}

function PlainCard({ tool }: { readonly tool: ChatTool }): JSX.Element {
  const strings = useStrings();
  const [open, toggle] = useFold(tool.id, opensByItself(tool));
  const waits = useWaits(tool);
  const look = waits ? stagedLook(strings) : statusLook(tool.status, strings);
  return (
    <div class={`tool tool-${tool.status}`}>
      <div class="tool-line">
        <button type="button" class="tool-head" aria-expanded={open} onClick={toggle}>
          <Icon name={kindIcon(tool.toolKind)} />
          <span class="tool-title" title={tool.title}>
            {tool.title || tool.name}
          </span>
          <span class="tool-status">
            <Icon name={look.icon} spin={look.spin} />
            {look.word}
          </span>
          <Icon name={open ? 'chevron-up' : 'chevron-down'} />
        </button>
        {tool.status === 'in_progress' && <StopTool tool={tool} />}
      </div>
      {open && <ToolBody tool={tool} />}
    </div>
  );
}

/** True while edits of this call wait for a review. */
function useWaits(tool: ChatTool): boolean {
  const paths = useContext(StagedPathsContext);
  if (tool.staged !== true || tool.status !== 'completed') return false;
  const waiting = new Set(paths.split('\n'));
  return tool.diffs.some(({ path }) => waiting.has(path));
}

/** Ends this call; the turn goes on. */
function StopTool({ tool }: { readonly tool: ChatTool }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const loopId = useContext(LoopContext) ?? undefined;
  return (
    <IconButton
      icon="debug-stop"
      title={strings.toolStop}
      label={format(strings.toolStopLabel, tool.title || tool.name)}
      onClick={() => post({ type: 'stop_tool', toolCallId: tool.id, loopId })}
    />
  );
}

function opensByItself(tool: ChatTool): boolean {
  return (
    tool.toolKind === 'execute' ||
    tool.status === 'failed' ||
    tool.status === 'outcome_unknown' ||
    tool.diffs.length > 0 ||
    tool.images.length > 0
  );
}

function ToolBody({ tool }: { readonly tool: ChatTool }): JSX.Element {
  const strings = useStrings();
  return (
    <div class="tool-body">
      {tool.status === 'outcome_unknown' && tool.output === '' && (
        <p class="tool-unknown">{strings.toolUnknownHint}</p>
      )}
      {tool.input !== '' && tool.diffs.length === 0 && (
        <ScrollPane class="tool-input" label={strings.toolInput}>
          {tool.input}
        </ScrollPane>
      )}
      {tool.diffs.map((diff) => (
        <DiffView key={diff.path} diff={diff} toolCallId={tool.id} foldId={tool.id} />
      ))}
      <Output tool={tool} />
      <Pictures images={tool.images} />
      <Locations tool={tool} />
      <RestoreCall tool={tool} />
    </div>
  );
}

/** Undoes what this one step wrote; a staged edit wrote nothing. */
function RestoreCall({ tool }: { readonly tool: ChatTool }): JSX.Element | null {
  const strings = useStrings();
  const { post } = useServices();
  const isNested = useContext(NestedContext);
  if (isNested || tool.status !== 'completed' || tool.diffs.length === 0 || tool.staged === true)
    return null;
  return (
    <p class="tool-actions">
      <LinkButton
        label={strings.toolRestoreLabel}
        onClick={() => post({ type: 'restore_tool', toolCallId: tool.id })}
      >
        {strings.toolRestore}
      </LinkButton>
    </p>
  );
}

function Output({ tool }: { readonly tool: ChatTool }): JSX.Element | null {
  const strings = useStrings();
  const { post } = useServices();
  if (tool.output === '' && tool.outputCut === 0) return null;
  return (
    <>
      {tool.outputCut > 0 && (
        <p class="quiet">
          {format(strings.outputCut, tool.outputCut.toLocaleString())}{' '}
          <LinkButton onClick={() => post({ type: 'open_output', toolCallId: tool.id })}>
            {strings.showAllOutput}
          </LinkButton>
        </p>
      )}
      <OutputPane output={tool.output} />
    </>
  );
}

function Locations({ tool }: { readonly tool: ChatTool }): JSX.Element | null {
  const strings = useStrings();
  const { post } = useServices();
  if (tool.locations.length === 0) return null;
  return (
    <ul class="locations" aria-label={strings.toolLocations}>
      {tool.locations.map(({ path, line }) => (
        <li key={`${path}:${line ?? ''}`}>
          <LinkButton
            onClick={() =>
              post({ type: 'open_location', path, ...(typeof line === 'number' ? { line } : {}) })
            }
          >
            <PathText path={path} line={line ?? undefined} />
          </LinkButton>
        </li>
      ))}
    </ul>
  );
}
