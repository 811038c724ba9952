/** The built-in tools by their names on the wire, with the names of their arguments. */
export const TOOL_NAMES = {
  /** {path, line?, limit?} — `line` is 1-based. */
  read: 'read',
  /** {path, text} */
  write: 'write',
  /** {path, old_text, new_text, replace_all?} */
  edit: 'edit',
  /** {path?} */
  list: 'list',
  /** {pattern, path?, glob?, literal?} — a regular expression unless `literal`. */
  search: 'search',
  /** {command, cwd?, timeout_seconds?} */
  run: 'run',
  /** {command, cwd?} */
  processStart: 'process_start',
  /** {} */
  processList: 'process_list',
  /** {process_id, from?} */
  processOutput: 'process_output',
  /** {process_id} */
  processStop: 'process_stop',
  /** {url} */
  fetch: 'fetch',
  /** {entries: [{content, status?, priority?}]} */
  plan: 'plan',
  /** {question, choices?} */
  ask: 'ask',
  /** {prompt, name?, mode?, background?} */
  delegate: 'delegate',
  /** {loop_id, text} */
  delegateMessage: 'delegate_message',
  /** {} */
  delegateList: 'delegate_list',
  /** {loop_id} */
  delegateStop: 'delegate_stop',
} as const;

/** The name of a built-in tool. */
export type ToolName = (typeof TOOL_NAMES)[keyof typeof TOOL_NAMES];
