import { describe, expect, it } from 'vitest';
import { parseLogLine } from '../../../../src/extension/core/log-line.ts';

describe('a line of agent-core log', () => {
  it('keeps its level and its details', () => {
    const line = JSON.stringify({ at: 'x', level: 'error', message: 'broke', sessionId: 's' });
    expect(parseLogLine(line)).toEqual({
      level: 'error',
      text: 'agent-core: broke {"sessionId":"s"}',
      message: 'broke',
    });
  });

  it('is taken as it is where it is no record', () => {
    for (const line of ['Warning: x', '{broken', '{"level":"error"}', '[1]'])
      expect(parseLogLine(line)).toEqual({
        level: 'info',
        text: line,
        message: line,
      });
  });
});
