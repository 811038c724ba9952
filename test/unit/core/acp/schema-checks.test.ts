import { describe, expect, test } from 'vitest';
import * as checks from '../../../../src/core/acp/generated/schema-checks.mjs';

const NO_OBJECTS: readonly unknown[] = [null, [], [[]], 0, '', 'text', true];

describe('the checks of messages', () => {
  test('none takes anything but an object', () => {
    const taken = Object.entries(checks).flatMap(([name, check]) =>
      NO_OBJECTS.filter((value) => check(value)).map((value) => [name, value]),
    );
    expect(taken).toEqual([]);
  });

  test.each(NO_OBJECTS)('no member of a list that holds objects may be %j', (value) => {
    const base = { sessionId: 's' };
    const text = { type: 'text', text: 'hello' };
    expect(checks.sessionPrompt({ ...base, prompt: [text] })).toBe(true);
    expect(checks.sessionPrompt({ ...base, prompt: [text, value] })).toBe(false);
    const server = { name: 'a', command: 'b', args: [], env: [] };
    expect(checks.sessionNew({ cwd: '/', mcpServers: [server] })).toBe(true);
    expect(checks.sessionNew({ cwd: '/', mcpServers: [server, value] })).toBe(false);
    expect(checks.sessionNew({ cwd: '/', mcpServers: [{ ...server, env: [value] }] })).toBe(false);
  });
});
