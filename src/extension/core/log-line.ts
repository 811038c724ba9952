import { isObject } from '../../base/json.ts';

/** A line of agent-core's log: how serious it is and what it says. */
export type LogLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
  /** What it says to a person: the text without details. */
  readonly message: string;
};

/** Reads a line of agent-core's stderr: its own are JSON objects, what libraries print is taken as it is. */
export function parseLogLine(line: string): LogLine {
  const record = line.startsWith('{') ? parse(line) : null;
  if (!record || typeof record['message'] !== 'string')
    return { level: 'info', text: line, message: line };
  const { at: _at, level, message, ...details } = record;
  const rest = Object.keys(details).length > 0 ? ` ${JSON.stringify(details)}` : '';
  const text = `agent-core: ${message}${rest}`;
  return { level: isLevel(level) ? level : 'info', text, message };
}

function isLevel(value: unknown): value is LogLine['level'] {
  return value === 'debug' || value === 'info' || value === 'warn' || value === 'error';
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
