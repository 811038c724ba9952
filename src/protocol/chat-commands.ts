/** What the chat's buttons ask of the editor: commands of the extension's own allow-list, by their short names. */
export type ChatCommand =
  | 'new_session'
  | 'restart'
  | 'show_log'
  | 'show_changes'
  | 'show_transcript'
  | 'manage_trust'
  | 'open_folder'
  | 'set_key'
  | 'redo'
  | 'show_receipts'
  | 'show_staged'
  | 'keep_staged'
  | 'discard_staged'
  | 'toggle_staged'
  /** Goes on with a turn that was interrupted. */
  | 'continue'
  | 'compact'
  /** Opens the session again after its store failed. */
  | 'reopen'
  | 'open_data_folder'
  /** This window may control the session again. */
  | 'take_control';
