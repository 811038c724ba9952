import { afterEach, describe, expect, test } from 'vitest';
import { isObject } from '../../../src/base/json.ts';
import * as checks from '../../../src/core/acp/generated/schema-checks.mjs';
import type { AcpTestClient } from './client.ts';

/** An agent under test. It must answer `quick` soon and run `slow` until it is cancelled. */
export type AgentUnderTest = {
  readonly client: AcpTestClient;
  /** An existing folder for sessions. */
  readonly cwd: string;
  readonly prompts: { readonly quick: string; readonly slow: string };
  /** True where the agent is a process of its own that must exit. */
  readonly isProcess: boolean;
  dispose(): Promise<void>;
};

const TEXT = (text: string): object[] => [{ type: 'text', text }];

/** What the public test kit for ACP v1 agents holds an agent to, by its names. Works with any way to connect. */
export function describeConformance(name: string, connect: () => Promise<AgentUnderTest>): void {
  describe(`${name}, held to the ACP v1 test kit`, () => {
    const agents: AgentUnderTest[] = [];

    async function start(
      capabilities: object = {},
    ): Promise<AgentUnderTest & { init: Record<string, unknown> }> {
      const agent = await connect();
      agents.push(agent);
      return { ...agent, init: await agent.client.initialize(capabilities) };
    }

    async function withSession(
      capabilities: object = {},
    ): Promise<AgentUnderTest & { sessionId: string }> {
      const agent = await start(capabilities);
      return { ...agent, sessionId: await agent.client.newSession(agent.cwd) };
    }

    afterEach(async () => {
      for (const agent of agents.splice(0)) {
        expectTransport(agent.client);
        await agent.dispose();
      }
    });

    test('JSONRPC-001, -002: ids come back as they were, with exactly one of result and error', async () => {
      const { client } = await start();
      for (const id of [0, 7, 'seven', '7', '']) await client.request('session/list', {}, id);
      await expect(client.request('_no/such', {}, 'e')).rejects.toMatchObject({
        code: expect.any(Number),
        message: expect.stringMatching(/^[^\n]+$/),
      });
    });

    test('JSONRPC-003, -004, -005, EXT-001: notifications get no answer, unknown methods -32601, and work goes on', async () => {
      const { client } = await start();
      const before = client.frames.length;
      client.notify('_unknown/notification', {});
      client.notify('unknown', {});
      await expect(client.request('_custom', {})).rejects.toMatchObject({ code: -32601 });
      await expect(client.request('nope', {})).rejects.toMatchObject({ code: -32601 });
      await client.request('session/list');
      expect(client.frames).toHaveLength(before + 3);
    });

    test('INIT-001, -002, -004, AUTH-001, -002: initialize says what is there', async () => {
      const { init } = await start();
      expect(init).toMatchObject({
        protocolVersion: 1,
        agentInfo: { name: expect.any(String), version: expect.any(String) },
      });
      expect(init['authMethods'] ?? []).toEqual([]);
    });

    test('INIT-003: an unknown version is not echoed', async () => {
      const { client } = await start();
      for (const version of [65535, 0, 2])
        expect(
          await client.call('initialize', { protocolVersion: version, clientCapabilities: {} }),
        ).toHaveProperty('protocolVersion', 1);
    });

    test('SESSION-001, -002, AUTH-005: new sessions work and differ', async () => {
      const { client, cwd } = await start();
      const ids = [await client.newSession(cwd), await client.newSession(cwd)];
      expect(new Set(ids).size).toBe(2);
    });

    test('PROMPT-001, -002, META-001: a text prompt ends with a known reason and its updates are of its session', async () => {
      const { client, sessionId, prompts } = await withSession();
      const result = await client.call('session/prompt', {
        sessionId,
        prompt: TEXT(prompts.quick),
        _meta: { traceparent: 'x' },
      });
      expect(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']).toContain(
        result['stopReason'],
      );
      expect(client.updates.length).toBeGreaterThan(0);
      expect(client.updates.every((entry) => entry.sessionId === sessionId)).toBe(true);
    });

    test('PROMPT-003, PROMPTCAP-001, -002, -003: links, and images, audio and resources where advertised, are accepted', async () => {
      const { client, sessionId } = await withSession();
      const blocks = [
        { type: 'resource_link', uri: 'file:///tmp/a.txt', name: 'a.txt' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///tmp/a.txt', text: 'x' } },
      ];
      for (const block of blocks)
        expect(
          await client.call('session/prompt', { sessionId, prompt: [block, ...TEXT('hello')] }),
          block.type,
        ).toHaveProperty('stopReason');
    });

    test('CANCEL-001, -002: a cancelled prompt answers cancelled, and nothing of it follows', async () => {
      const { client, sessionId, prompts } = await withSession();
      const prompt = client.prompt(sessionId, prompts.slow);
      await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
      client.notify('session/cancel', { sessionId });
      expect(await prompt).toHaveProperty('stopReason', 'cancelled');
      const answer = client.frames.findIndex(
        ({ message }) => isObject(message?.['result']) && 'stopReason' in message['result'],
      );
      await client.request('session/list');
      expect(client.updates.filter(({ index }) => index > answer)).toEqual([]);
    });

    test('LOAD-001, -002, -003: load replays before its answer and nothing after', async () => {
      const { client, sessionId, prompts, cwd } = await withSession();
      await client.prompt(sessionId, prompts.quick);
      const live = client.textOf(sessionId);
      const before = client.updates.length;
      const result = await client.request(
        'session/load',
        { sessionId, cwd, mcpServers: [] },
        'load',
      );
      expect(isObject(result)).toBe(true);
      await client.request('session/list');
      const replayed = client.updates.slice(before);
      const answer = client.frames.findIndex(({ message }) => message?.['id'] === 'load');
      expect(replayed.length).toBeGreaterThan(0);
      expect(replayed.every(({ index, mark }) => index < answer && mark?.replayed === true)).toBe(
        true,
      );
      expect(client.textOf(sessionId)).toBe(live + live);
      expect(client.textOf(sessionId, 'user_message_chunk')).toBe(prompts.quick);
    });

    test('RESUME-001, -002: resume works without mcpServers and replays nothing', async () => {
      const { client, sessionId, prompts, cwd } = await withSession();
      await client.prompt(sessionId, prompts.quick);
      const before = client.updates.length;
      await client.request('session/resume', { sessionId, cwd });
      // What is offered now may be told behind the answer; nothing of the history may.
      const told = client.updates.slice(before).map(({ update }) => update.sessionUpdate);
      expect(told.filter((kind) => kind !== 'available_commands_update')).toEqual([]);
      expect(await client.prompt(sessionId, prompts.quick)).toHaveProperty(
        'stopReason',
        'end_turn',
      );
    });

    test('LIST-001, -002: list works without params and an unknown folder has no sessions', async () => {
      const { client, sessionId } = await withSession();
      const { sessions } = await client.call('session/list', {});
      expect(sessions).toContainEqual(expect.objectContaining({ sessionId }));
      expect(await client.call('session/list', { cwd: '/no/such/folder' })).toHaveProperty(
        'sessions',
        [],
      );
    });

    test('DELETE-001, -002: a deleted session is gone, an unknown one is deleted silently', async () => {
      const { client, sessionId } = await withSession();
      expect(await client.request('session/delete', { sessionId })).toEqual({});
      expect(JSON.stringify(await client.request('session/list'))).not.toContain(sessionId);
      expect(await client.request('session/delete', { sessionId: 'no-such-session' })).toEqual({});
    });

    test('CLOSE-001, -002: closing cancels the running prompt', async () => {
      const { client, sessionId, prompts } = await withSession();
      const prompt = client.prompt(sessionId, prompts.slow);
      await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
      expect(await client.request('session/close', { sessionId })).toEqual({});
      expect(await prompt).toHaveProperty('stopReason', 'cancelled');
    });

    test('ADDDIRS-001: additional directories are accepted, and relative ones refused', async () => {
      const { client, cwd } = await start();
      expect(
        await client.call('session/new', { cwd, mcpServers: [], additionalDirectories: [cwd] }),
      ).toHaveProperty('sessionId');
      await expect(
        client.call('session/new', { cwd, mcpServers: [], additionalDirectories: ['a'] }),
      ).rejects.toMatchObject({ code: -32602 });
      await expect(client.call('session/new', { cwd: 'a', mcpServers: [] })).rejects.toMatchObject({
        code: -32602,
      });
    });

    test('MODES-001, -002, CONFIG-001, -002, -003: modes and options agree and change together', async () => {
      const { client, cwd } = await start();
      const opened = await client.call('session/new', { cwd, mcpServers: [] });
      const { sessionId } = opened;
      const modes = opened['modes'] as { currentModeId: string; availableModes: { id: string }[] };
      const options = opened['configOptions'] as ConfigOption[];
      expect(modes.availableModes.map(({ id }) => id)).toContain(modes.currentModeId);
      for (const option of options) {
        expect(option.type).toBe('select');
        expect(
          option.options.map(({ value }) => value),
          option.id,
        ).toContain(option.currentValue);
      }
      const other = modes.availableModes.find(({ id }) => id !== modes.currentModeId)?.id;
      expect(await client.request('session/set_mode', { sessionId, modeId: other })).toEqual({});
      const update = await client.waitForUpdate(
        ({ update: candidate }) => candidate.sessionUpdate === 'current_mode_update',
      );
      expect(update.update).toEqual({ sessionUpdate: 'current_mode_update', currentModeId: other });
      const back = await client.call('session/set_config_option', {
        sessionId,
        configId: 'mode',
        value: modes.currentModeId,
      });
      expect((back['configOptions'] as ConfigOption[]).map(({ id }) => id)).toEqual(
        options.map(({ id }) => id),
      );
      expect(back['configOptions']).toContainEqual(
        expect.objectContaining({ id: 'mode', currentValue: modes.currentModeId }),
      );
    });

    test('CLIENTCAP-001, -002, -003: nothing is asked of a client that offered nothing', async () => {
      const { client, sessionId, prompts } = await withSession();
      await client.prompt(sessionId, prompts.quick);
      const asked = client.frames.flatMap(({ message }) =>
        message && 'method' in message && 'id' in message ? [message['method']] : [],
      );
      expect(asked.filter((method) => method !== 'session/request_permission')).toEqual([]);
    });

    test('SHUTDOWN-001: the end of input ends the agent', async () => {
      const { client, isProcess } = await withSession();
      const { code } = await client.close();
      expect(code).toBe(isProcess ? 0 : null);
    });

    test("ERROR-001: an error's message is one line", async () => {
      const { client } = await start();
      await expect(
        client.request('session/prompt', { sessionId: 'x\ny', prompt: TEXT('x') }),
      ).rejects.toMatchObject({ message: expect.stringMatching(/^[^\n\r]+$/) });
    });
  });
}

type ConfigOption = {
  readonly id: string;
  readonly type: string;
  readonly currentValue: string;
  readonly options: readonly { readonly value: string }[];
};

/** TRANSPORT-001, SCHEMA-001: every line is one JSON-RPC message, and every update is valid. */
function expectTransport(client: AcpTestClient): void {
  for (const { text, message } of client.frames) {
    expect(message?.['jsonrpc'], text).toBe('2.0');
    if (message?.['method'] !== 'session/update') continue;
    expect(
      checks.sessionNotification(message['params']),
      `${text} ${JSON.stringify(checks.sessionNotification.errors)}`,
    ).toBe(true);
  }
}
