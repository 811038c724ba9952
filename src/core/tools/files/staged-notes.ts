import type { DocumentFiles, ToolOutcome } from '../../session/tool.ts';
import { completed } from '../outcome.ts';
import type { Written } from './text-file.ts';

/** Ends the text of a staged file. */
export const STAGED_TEXT = '\n\n[This text is staged, not on disk yet.]';

/** The outcome of a change: `what` says what was changed, without a full stop. A staged one says so. */
export function changed(
  how: Written,
  what: string,
  extra: Pick<ToolOutcome, 'content' | 'locations'>,
): ToolOutcome {
  const { content, locations = [] } = extra;
  if (how === 'written') return completed(`${what}.`, { content, locations });
  return completed(
    `${what}: staged, not on disk yet. Read and edit see it; list, search and commands do not until a person commits it.`,
    { content, locations, rawOutput: { staged: true } },
  );
}

/** A line about the staged files that a tool which looks at the disk did not see; empty if there are none. */
export function notOnDisk(files: DocumentFiles, missed: string): string {
  const count = files.staging?.paths().length ?? 0;
  if (count === 0) return '';
  const subject = count === 1 ? 'The changes of 1 file are' : `The changes of ${count} files are`;
  return `\n[${subject} staged, not on disk yet: ${missed}.]`;
}
