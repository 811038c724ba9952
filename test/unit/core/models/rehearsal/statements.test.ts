import { describe, expect, it } from 'vitest';
import { request, tools, user } from '../fakes.ts';
import { drive, texts } from './drive.ts';

const DONE = 'Done: 1 steps, 0 failed.';

async function onlyCall(line: string): Promise<{ name: string; input: unknown }> {
  const { replies } = await drive(line, { changes: { tools: tools('x', ...NAMES) } });
  expect(replies.map((reply) => reply.reason)).toEqual(['tool_calls', 'stop']);
  expect(replies[0]?.calls).toHaveLength(1);
  const call = replies[0]?.calls[0];
  return { name: call?.name ?? '', input: call?.input };
}

const NAMES = ['read', 'write', 'edit', 'list', 'search', 'run', 'process_start', 'plan', 'ask'];

describe('a line that says or thinks', () => {
  it.each([
    ['say hello', 'hello'],
    ['SAY hello', 'hello'],
    ['- say hello', 'hello'],
    ['* say hello', 'hello'],
    ['12. say hello', 'hello'],
    ['2) say hello', 'hello'],
    ['say: hello', 'hello'],
    ['reply with exactly: all good', 'all good'],
    ['Reply with exactly: "a\\nb\\t\\"c\\" \\\\"', 'a\nb\t"c" \\'],
    ["say 'one\\ntwo'", 'one\ntwo'],
    ['say "a" and "b"', '"a" and "b"'],
    ["say 'tis fine", "'tis fine"],
    ['say don\u2019t ; stop with this in there', 'don\u2019t ; stop with this in there'],
    ['say back\\nslash', 'back\\nslash'],
  ])('%s', async (line, said) => {
    expect(await texts(line)).toEqual([said, DONE]);
  });

  it('thinks aloud as reasoning, not as text', async () => {
    const { replies } = await drive('think hard about it');
    expect(replies[0]).toMatchObject({ thought: 'hard about it', text: '', reason: 'pause' });
  });
});

describe('a line that calls a tool', () => {
  it.each([
    ['read a.txt', 'read', { path: 'a.txt' }],
    ['Read `src/a b.ts`', 'read', { path: 'src/a b.ts' }],
    ['read "C:\\new\\t.txt"', 'read', { path: 'C:\\new\\t.txt' }],
    ['list src', 'list', { path: 'src' }],
    ['list', 'list', {}],
    ['search foo.*bar', 'search', { pattern: 'foo.*bar' }],
    ['search foo in src', 'search', { pattern: 'foo', path: 'src' }],
    ['search "a in b" in src', 'search', { pattern: 'a in b', path: 'src' }],
    ['write a.txt: hello: world', 'write', { path: 'a.txt', text: 'hello: world' }],
    ['write a.txt: "one\\ntwo\\n"', 'write', { path: 'a.txt', text: 'one\ntwo\n' }],
    ['write a.txt:', 'write', { path: 'a.txt', text: '' }],
    ['write C:\\x\\a.txt: hi', 'write', { path: 'C:\\x\\a.txt', text: 'hi' }],
    ['write "a: b.txt": hi', 'write', { path: 'a: b.txt', text: 'hi' }],
    [
      'create a file named n.txt containing exactly: hi there',
      'write',
      { path: 'n.txt', text: 'hi there' },
    ],
    [
      'Create a file named n.txt containing exactly: "hi\\n"',
      'write',
      { path: 'n.txt', text: 'hi\n' },
    ],
    ['replace a with b in c.txt', 'edit', { path: 'c.txt', old_text: 'a', new_text: 'b' }],
    [
      'replace "x with y" with "in in in" in c.txt',
      'edit',
      { path: 'c.txt', old_text: 'x with y', new_text: 'in in in' },
    ],
    ['replace a with "" in c.txt', 'edit', { path: 'c.txt', old_text: 'a', new_text: '' }],
    [
      'replace a with b with c in d in e.txt',
      'edit',
      { path: 'd in e.txt', old_text: 'a', new_text: 'b with c' },
    ],
    ['run npm test && echo "a b"', 'run', { command: 'npm test && echo "a b"' }],
    ['run "sleep 30"', 'run', { command: 'sleep 30' }],
    ['run "my tool" "an arg"', 'run', { command: '"my tool" "an arg"' }],
    ['start npm run dev', 'process_start', { command: 'npm run dev' }],
    [
      'plan: A; "B; still B"; C',
      'plan',
      {
        entries: [{ content: 'A' }, { content: 'B; still B' }, { content: 'C' }],
      },
    ],
    ['call x with {"a": [1, "b with c"]}', 'x', { a: [1, 'b with c'] }],
    ['call x', 'x', {}],
  ])('%s', async (line, name, input) => {
    expect(await onlyCall(line)).toEqual({ name, input });
  });

  it('asks, and then says the answer in a reply of its own', async () => {
    const said = await texts('ask Which colour?\nsay next', { tools: () => 'blue' });
    expect(said).toEqual(['', 'blue', 'next', 'Done: 2 steps, 0 failed.']);
  });

  it('says so when nobody answered', async () => {
    const said = await texts('ask Which colour?', { tools: () => ({ status: 'cancelled' }) });
    expect(said).toEqual(['', 'No answer was given.', 'Done: 1 steps, 1 failed.']);
  });

  it('delegates its text as a prompt', async () => {
    const { replies } = await drive('delegate: "say a\\nsay b"');
    expect(replies[0]?.calls[0]).toMatchObject({
      name: 'delegate',
      input: { prompt: 'say a\nsay b' },
    });
  });

  it('delegates in the background where it is told to', async () => {
    for (const verb of ['delegate in background', 'Delegate in the background']) {
      const { replies } = await drive(`${verb}: say a`);
      expect(replies[0]?.calls[0]).toMatchObject({
        name: 'delegate',
        input: { prompt: 'say a', background: true },
      });
    }
  });

  it('puts several calls and texts of one `together` line into one reply', async () => {
    const { replies } = await drive(
      'together: say first ; write a.txt: "x; y" ; read b.txt ; ask Ready?',
      { tools: (call) => (call.name === 'ask' ? 'yes' : 'ok') },
    );
    expect(replies[0]?.text).toBe('first');
    expect(replies[0]?.calls.map((call) => [call.toolCallId, call.name, call.input])).toEqual([
      ['call_turn-1_1_1', 'write', { path: 'a.txt', text: 'x; y' }],
      ['call_turn-1_1_2', 'read', { path: 'b.txt' }],
      ['call_turn-1_1_3', 'ask', { question: 'Ready?' }],
    ]);
    expect(replies.slice(1).map((reply) => reply.text)).toEqual(['yes', DONE]);
  });

  it('names a tool that it is not offered, goes on, and counts the line as failed', async () => {
    const { replies } = await drive('call magic with {}\nsay on', {
      changes: { tools: tools('read') },
    });
    expect(replies[0]?.calls).toEqual([]);
    expect(replies[0]?.text).toContain('`magic` is not offered');
    expect(replies[0]?.text).toContain('read');
    expect(replies.slice(1).map((reply) => reply.text)).toEqual(['on', 'Done: 2 steps, 1 failed.']);
  });

  it('makes call ids that differ between replies and follow from the turn', async () => {
    const { messages } = await drive('read a\nread b\ntogether: read c ; read d');
    const ids = messages.flatMap((message) =>
      message.role === 'assistant' ? message.calls.map((call) => call.toolCallId) : [],
    );
    expect(ids).toEqual([
      'call_turn-1_1_1',
      'call_turn-1_2_1',
      'call_turn-1_3_1',
      'call_turn-1_3_2',
    ]);
  });
});

describe('the final message', () => {
  it('is the text of `finish with`, wherever the line stands', async () => {
    expect(await texts('say a\nfinish with All set.')).toEqual(['a', 'All set.']);
    expect(await texts('finish with "X"\nsay a')).toEqual(['a', 'X']);
    expect(await texts('finish with only this')).toEqual(['only this']);
  });

  it('counts failed lines otherwise, each once', async () => {
    const said = await texts('read a\ntogether: read b ; read c\nrun x\nsay ok', {
      tools: (call) => ({ status: call.name === 'run' ? 'denied' : 'failed' }),
    });
    expect(said.at(-1)).toBe('Done: 4 steps, 3 failed.');
  });
});

describe('a line that can not be read', () => {
  it('is said back with the list of what is understood, once for lines in a row', async () => {
    const said = await texts('Please fix\nthe bug\nsay hi');
    expect(said).toHaveLength(3);
    expect(said[0]).toContain('> Please fix\n> the bug');
    expect(said[0]).toContain('`create a file named PATH containing exactly: TEXT`');
    expect(said.slice(1)).toEqual(['hi', 'Done: 2 steps, 1 failed.']);
  });

  it.each([
    ['say', 'the text is missing'],
    ['say "open', 'never closed'],
    ['read', 'the path is missing'],
    ['read "open', 'never closed'],
    ['search', 'the pattern is missing'],
    ['search x in "', 'never closed'],
    ['write a.txt', 'write PATH: TEXT'],
    ['write : x', 'the path is missing'],
    ['write a.txt: "open', 'never closed'],
    ['create a file named x', 'containing exactly'],
    ['replace a in b', 'replace OLD with NEW in PATH'],
    ['replace a with b', 'replace OLD with NEW in PATH'],
    ['replace "" with b in c', 'the old text is missing'],
    ['run', 'the command is missing'],
    ['start', 'the command is missing'],
    ['ask', 'the question is missing'],
    ['delegate:', 'the task is missing'],
    ['plan: ;;', 'plan: A; B; C'],
    ['call', 'the tool name is missing'],
    ['call x with {bad', 'not valid JSON'],
    ['call x with [1]', 'must be a JSON object'],
    ['call two words with {}', 'no spaces'],
    ['together:', 'together: S1'],
    ['together: say a ; finish with b', "can't stand in"],
    ['together: say a ; together: say b', "can't stand in"],
    ['together: read a ; read', 'the path is missing'],
    ['wait', '`wait N`'],
    ['wait -1', '`wait N`'],
    ['wait 1e9', '`wait N`'],
    ['wait 99999999', '`wait N`'],
    ['wait for me', '`wait N`'],
    ['count slowly from 1 to 999999999', 'at most'],
    ['count slowly from a to b', 'whole numbers'],
    ['fail with', 'HTTP status'],
    ['fail with 200', 'HTTP status'],
    ['fail with constructor', 'HTTP status'],
    ['finish with', 'the text is missing'],
  ])('%s gets a hint and the script goes on', async (line, hint) => {
    const said = await texts(`${line}\nsay on`);
    expect(said[0]).toContain(hint);
    expect(said[0]).toContain(`> ${line}`);
    expect(said.slice(1)).toEqual(['on', 'Done: 2 steps, 1 failed.']);
  });

  it.each(['', '   ', '\n\n'])('an empty prompt %j gets the list', async (prompt) => {
    const said = await texts(prompt);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('The message holds no script.');
    expect(said[0]).toContain('`say TEXT`');
  });

  it('says the same when there is no prompt at all', async () => {
    const { replies } = await drive([user('machine words', 'machine')]);
    expect(replies.map((reply) => reply.text)).toEqual([
      expect.stringContaining('The message holds no script.'),
    ]);
    expect(request([]).messages).toEqual([]);
  });

  it('does not know `stream N chunks`, which only the instant variant does', async () => {
    expect((await texts('stream 3 chunks'))[0]).toContain("I don't understand this");
  });
});
