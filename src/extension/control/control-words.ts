import * as l10n from '@vscode/l10n';

/** Where a message was read, in plain words; what is not known stands as it is. Source: design §2, seam. */
export function seamWords(seam: unknown): string {
  switch (seam) {
    case 'iteration_start':
      return l10n.t('before the next reply');
    case 'pre_compact':
    case 'post_compact':
      return l10n.t('while the conversation was summarized');
    case 'pre_tool_dispatch':
      return l10n.t('before the tools ran');
    case 'post_tool_dispatch':
      return l10n.t('after the tools ran');
    case 'iteration_end':
      return l10n.t('after the reply');
    case 'idle_pre':
    case 'idle_post':
      return l10n.t('while it waited');
    case 'loop_exit':
      return l10n.t('when the turn ended');
    default:
      return typeof seam === 'string' ? seam : '';
  }
}
