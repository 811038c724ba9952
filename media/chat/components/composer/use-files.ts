import { useState } from 'preact/hooks';
import type { Draft } from '../../bridge/drafts.ts';
import { takeImages, urisOf } from '../../composer/images.ts';
import { useServices, useStrings } from '../shared/context.ts';

type Files = {
  /** Why pictures were not taken. */
  readonly problems: readonly string[];
  readonly forget: () => void;
  readonly onPaste: (event: ClipboardEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
};

/** Takes pictures that are pasted or dropped, and hands dropped files to the extension. */
export function useFiles(draft: Draft, change: (part: Partial<Draft>) => void): Files {
  const strings = useStrings();
  const { post } = useServices();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const add = async (files: readonly File[]): Promise<void> => {
    const taken = await takeImages(files, draft.images.length, strings);
    setProblems(taken.problems);
    if (taken.images.length > 0) change({ images: [...draft.images, ...taken.images] });
  };
  const takeFrom = (data: DataTransfer | null, event: Event): boolean => {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return false;
    event.preventDefault();
    void add(files);
    return true;
  };
  return {
    problems,
    forget: () => setProblems([]),
    onPaste: (event) => {
      takeFrom(event.clipboardData, event);
    },
    onDrop: (event) => {
      if (takeFrom(event.dataTransfer, event) || event.dataTransfer === null) return;
      const uris = urisOf(event.dataTransfer);
      if (uris.length === 0) return;
      event.preventDefault();
      post({ type: 'resolve_uris', uris });
    },
  };
}
