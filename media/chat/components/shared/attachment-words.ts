import type { ChatAttachment } from '../../../../src/protocol/chat.ts';
import type { Strings } from '../../strings.ts';

const ICONS = {
  file: 'file',
  folder: 'folder',
  selection: 'selection',
  diagnostics: 'warning',
  image: 'file-media',
} as const;

/** The codicon of a kind of context. */
export function attachmentIcon(kind: ChatAttachment['kind']): string {
  return ICONS[kind];
}

/** The word for a kind of context. */
export function attachmentWord(kind: ChatAttachment['kind'], strings: Strings): string {
  switch (kind) {
    case 'file':
      return strings.kindFile;
    case 'folder':
      return strings.kindFolder;
    case 'selection':
      return strings.kindSelection;
    case 'diagnostics':
      return strings.kindDiagnostics;
    case 'image':
      return strings.kindImage;
  }
}
