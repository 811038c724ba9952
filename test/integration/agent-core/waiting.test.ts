import { describe, expect, it } from 'vitest';
import type { TaskStatus } from '../../../src/core/host/views/view-types.ts';
import type { EditorModel } from '../../../src/protocol/editor-models.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  eventually,
  hostStatus,
  startAgentCore,
  startDoor,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

const OURS = { ...KNOWS_CONTROL, elicitation: { form: {} } };
const MODEL: EditorModel = {
  vendor: 'test',
  family: 'one',
  id: 'one-1',
  name: 'One',
  maxInputTokens: 8_000,
  images: false,
};
const BY_EDITOR = { PILOTHOUSE_MODEL: 'vscode-lm/test/one-1' };

async function taskOf(client: AcpTestClient, sessionId: string): Promise<TaskStatus | null> {
  const view = await client.call('harn.session_view.query', { sessionId });
  return view['task'] as TaskStatus | null;
}

/** Resolves once the session's task is in the state. */
async function becomes(client: AcpTestClient, sessionId: string, state: string): Promise<void> {
  let last: TaskStatus | null = null;
  for (let left = 500; left > 0; left -= 1) {
    last = await taskOf(client, sessionId);
    if (last?.state === state) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Never ${state}: ${JSON.stringify(last)}`);
}

function prompt(
  client: AcpTestClient,
  sessionId: string,
  text: string,
): Promise<Record<string, unknown>> {
  const sent = client.call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  // The client may be gone when it fails.
  sent.catch(() => undefined);
  return sent;
}

/** Makes the client an editor with one language model; it says its text, or nothing, and then what is wanted. */
function asEditor(client: AcpTestClient, ends: 'answers' | 'hangs', text: string | null): void {
  client.onRequest('_pilothouse/editor_models/list', () => ({ models: [MODEL] }));
  client.onRequest('_pilothouse/editor_models/generate', ({ requestId }) => {
    if (text !== null)
      client.notify('_pilothouse/editor_models/part', { requestId, part: { type: 'text', text } });
    return ends === 'answers' ? { finish: 'stop' } : undefined;
  });
}

async function gatesOf(client: AcpTestClient, sessionId: string): Promise<readonly unknown[]> {
  return (await client.call('_pilothouse/gates/list', { sessionId }))['gates'] as unknown[];
}

describe('the task of a session', () => {
  it('is none at first, waits for input at a question, works, and is completed or cancelled', async () => {
    const client = startAgentCore(tempFolder('home'));
    await client.initialize(OURS);
    const sessionId = await client.newSession(tempFolder('work'));
    expect(await taskOf(client, sessionId)).toBeNull();

    let answer: (value: unknown) => void = () => undefined;
    client.onRequest(
      'elicitation/create',
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const asking = prompt(client, sessionId, 'ask Which one?\nwait 60');
    await becomes(client, sessionId, 'input-required');
    expect(await taskOf(client, sessionId)).toMatchObject({
      timestamp: expect.stringMatching(/^\d{4}-/),
      message: { role: 'agent', parts: [{ kind: 'text', text: 'Which one?' }] },
    });
    const [first, second] = [await view(client, sessionId), await view(client, sessionId)];
    expect(first['projection']).toEqual(second['projection']);

    answer({ action: 'accept', content: { answer: 'left' } });
    await becomes(client, sessionId, 'working');
    await client.call('session/cancel', { sessionId });
    await asking;
    expect(await taskOf(client, sessionId)).toMatchObject({ state: 'cancelled' });

    await prompt(client, sessionId, 'finish with done');
    const done = await taskOf(client, sessionId);
    expect(done?.state).toBe('completed');
    expect(done?.message).toBeUndefined();
  });
});

function view(client: AcpTestClient, sessionId: string): Promise<Record<string, unknown>> {
  return client.call('harn.session_view.query', { sessionId });
}

describe('a turn whose model only an editor reaches', () => {
  it('waits where everybody sees it, is stopped at once, and goes on when an editor connects', async () => {
    const home = tempFolder('home');
    const plain = startDoor(home, { env: BY_EDITOR });
    await plain.initialize({});
    const sessionId = await plain.newSession(tempFolder('work'));

    const stopped = prompt(plain, sessionId, 'hello');
    await becomes(plain, sessionId, 'auth-required');
    expect((await taskOf(plain, sessionId))?.message?.parts[0]?.text).toContain(
      'Waiting for an editor with language models',
    );
    expect((await view(plain, sessionId))['pending']).toMatchObject({
      auth: [{ provider: 'vscode-lm' }],
    });
    expect(await gatesOf(plain, sessionId)).toHaveLength(1);
    await plain.call('session/cancel', { sessionId });
    expect(await stopped).toMatchObject({ stopReason: 'cancelled' });
    expect(await gatesOf(plain, sessionId)).toEqual([]);

    const outcome = prompt(plain, sessionId, 'hello again');
    await becomes(plain, sessionId, 'auth-required');
    const editor = startDoor(home);
    asEditor(editor, 'answers', 'from the editor');
    await editor.initialize(OURS);
    expect(await outcome).toMatchObject({ stopReason: 'end_turn' });
    expect(plain.textOf(sessionId)).toContain('from the editor');
    expect(await taskOf(plain, sessionId)).toMatchObject({ state: 'completed' });
  });

  it('asks the next editor where one went silently, and is cut where it had begun to answer', async () => {
    const home = tempFolder('home');
    const plain = startDoor(home, { env: BY_EDITOR });
    await plain.initialize({});
    const sessionId = await plain.newSession(tempFolder('work'));
    const [first, second] = [startDoor(home), startDoor(home)];
    asEditor(first, 'hangs', 'half an answer');
    await first.initialize(OURS);
    asEditor(second, 'hangs', null);
    await second.initialize(OURS);
    // Both are there once each was asked what it offers.
    await second.call('_pilothouse/models/list');

    const outcome = prompt(plain, sessionId, 'hello');
    await second.waitFor(({ message }) => message?.['method'] === GENERATE);
    expect(first.calls(GENERATE)).toEqual([]);
    second.kill();
    await first.waitFor(({ message }) => message?.['method'] === GENERATE);
    await plain.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    first.kill();
    await expect(outcome).rejects.toThrow('in the middle of its answer');
    expect(await taskOf(plain, sessionId)).toMatchObject({
      state: 'failed',
      message: { parts: [{ text: expect.stringContaining('in the middle of its answer') }] },
    });
    expect(plain.textOf(sessionId)).toContain('half an answer');
  });

  it('still waits after the host was killed, and goes on in the next one', async () => {
    const home = tempFolder('home');
    const plain = startDoor(home, { env: BY_EDITOR });
    await plain.initialize({});
    const folder = tempFolder('work');
    const sessionId = await plain.newSession(folder);
    void prompt(plain, sessionId, 'hello');
    await becomes(plain, sessionId, 'auth-required');
    const { pid } = hostStatus(home);
    if (pid === null) throw new Error('There is no host');
    process.kill(pid, 'SIGKILL');
    await eventually(() => hostStatus(home).pid === null, 'the end of the host');

    const next = startDoor(home);
    await next.initialize({});
    expect(await taskOf(next, sessionId)).toMatchObject({ state: 'auth-required' });
    await next.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(await taskOf(next, sessionId)).toMatchObject({ state: 'auth-required' });
    expect(await gatesOf(next, sessionId)).toHaveLength(1);
    const editor = startDoor(home);
    asEditor(editor, 'answers', 'from the editor');
    await editor.initialize(OURS);
    await becomes(next, sessionId, 'completed');
    expect(next.textOf(sessionId)).toContain('from the editor');
  });
});

const GENERATE = '_pilothouse/editor_models/generate';

describe('a question with several clients', () => {
  it('is not declined by one that can not show it while another can, and is answered there', async () => {
    const home = tempFolder('home');
    const plain = startDoor(home);
    await plain.initialize({});
    const sessionId = await plain.newSession(tempFolder('work'));
    const able = startDoor(home);
    let answer: (value: unknown) => void = () => undefined;
    able.onRequest(
      'elicitation/create',
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await able.initialize(OURS);
    await able.call('_pilothouse/attach', { sessionId });
    const outcome = prompt(plain, sessionId, 'ask Which one?');
    await able.waitFor(({ message }) => message?.['method'] === 'elicitation/create');
    expect(await gatesOf(plain, sessionId)).toHaveLength(1);
    answer({ action: 'accept', content: { answer: 'the left one' } });
    expect(await outcome).toMatchObject({ stopReason: 'end_turn' });
    expect(plain.textOf(sessionId)).toContain('the left one');
  });

  it('waits for the one who could show it and went, and is there when they come back', async () => {
    const home = tempFolder('home');
    const plain = startDoor(home);
    await plain.initialize({});
    const sessionId = await plain.newSession(tempFolder('work'));
    const asked = 'elicitation/create';
    const able = startDoor(home);
    able.onRequest(asked, () => undefined);
    await able.initialize(OURS);
    await able.call('_pilothouse/attach', { sessionId });
    const outcome = prompt(plain, sessionId, 'ask Which one?');
    await able.waitFor(({ message }) => message?.['method'] === asked);
    able.kill();
    await eventually(() => hostStatus(home).clients === 1, 'that it has gone');
    expect(await gatesOf(plain, sessionId)).toHaveLength(1);

    const back = startDoor(home);
    back.onRequest(asked, () => ({ action: 'accept', content: { answer: 'the left one' } }));
    await back.initialize(OURS);
    await back.call('_pilothouse/attach', { sessionId });
    expect(await outcome).toMatchObject({ stopReason: 'end_turn' });
    expect(plain.textOf(sessionId)).toContain('the left one');
  });

  it('is declined where nobody who is attached can show it', async () => {
    const plain = startDoor(tempFolder('home'));
    await plain.initialize({});
    const sessionId = await plain.newSession(tempFolder('work'));
    expect(await prompt(plain, sessionId, 'ask Which one?')).toMatchObject({
      stopReason: 'end_turn',
    });
    expect(await gatesOf(plain, sessionId)).toEqual([]);
  });
});
