import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answering, startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';

describe('a session over stdio', () => {
  it('reads, writes and runs on the folder after each was approved', async () => {
    const folder = tempFolder('work');
    writeFileSync(join(folder, 'in.txt'), 'from disk');
    const client = answering(startAgentCore(tempFolder('home')), 'allow_once');
    await client.initialize();
    const sessionId = await client.newSession(folder);
    const result = await client.prompt(
      sessionId,
      'read in.txt\nwrite out.txt: made here\nrun cat out.txt > copy.txt\nfinish with all done',
    );
    expect(result['stopReason']).toBe('end_turn');
    expect(client.textOf(sessionId)).toBe('all done');
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('made here');
    expect(readFileSync(join(folder, 'copy.txt'), 'utf8')).toBe('made here');
    expect(client.calls('session/request_permission')).toHaveLength(2);
    expect(await client.close()).toEqual({ code: 0, signal: null });
  });

  it('runs nothing that was rejected, and the model is told', async () => {
    const folder = tempFolder('work');
    const client = answering(startAgentCore(tempFolder('home')), 'reject_once');
    await client.initialize();
    const sessionId = await client.newSession(folder);
    expect(
      (await client.prompt(sessionId, 'write no.txt: x\nwrite no2.txt: y'))['stopReason'],
    ).toBe('end_turn');
    expect(existsSync(join(folder, 'no.txt'))).toBe(false);
    expect(client.textOf(sessionId)).toBe('Done: 2 steps, 2 failed.');
  });

  it('is found again after a restart, replays the same conversation once, and proves it by its hash', async () => {
    const folder = tempFolder('work');
    const home = tempFolder('home');
    const first = answering(startAgentCore(home), 'allow_once');
    await first.initialize({ _meta: { harn: {} } });
    const sessionId = await first.newSession(folder);
    await first.prompt(sessionId, 'say héllo wörld 🙂\nwrite a.txt: one\nfinish with fin');
    const live = first.textOf(sessionId);
    await first.close();

    const second = startAgentCore(home);
    await second.initialize();
    const listed = await second.call('session/list', {});
    expect(listed['sessions']).toMatchObject([
      { sessionId, title: 'say héllo wörld 🙂', cwd: folder, liveState: 'persisted' },
    ]);
    const tip = (listed['sessions'] as { lastEventId: number }[])[0]?.lastEventId ?? 0;
    const hash = (): Promise<Record<string, unknown>> =>
      second.call('_pilothouse/history/hash_at', { sessionId, eventId: tip });
    const before = await hash();
    await second.call('session/resume', { sessionId, cwd: folder });
    expect(second.updates.filter(({ mark }) => mark?.replayed)).toEqual([]);
    expect(second.textOf(sessionId)).toBe('');
    const loaded = await second.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(second.textOf(sessionId)).toBe(live);
    expect(second.textOf(sessionId, 'user_message_chunk')).toContain('say héllo wörld 🙂');
    expect(await hash()).toEqual(before);
    expect(before['prefixHash']).toMatch(/^[0-9a-f]{64}$/u);
    expect(loaded).toMatchObject({ session: { lastEventId: tip } });
    expect(await second.call('_pilothouse/history/verify', { sessionId })).toEqual({ ok: true });
    expect((await second.prompt(sessionId, 'finish with still here'))['stopReason']).toBe(
      'end_turn',
    );
  });

  it('keeps ids, titles and times over two restarts, and every row opens (A26)', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const first = startAgentCore(home);
    await first.initialize();
    for (const word of ['one', 'two']) {
      await first.prompt(await first.newSession(folder), `finish with ${word}`);
    }
    const rows = async (client: typeof first): Promise<unknown[]> => {
      const { sessions } = await client.call('session/list', {});
      return (sessions as Record<string, unknown>[]).map(
        ({ sessionId, title, updatedAt, cwd }) => ({
          sessionId,
          title,
          updatedAt,
          cwd,
        }),
      );
    };
    const before = await rows(first);
    await first.close();
    for (const _restart of [1, 2]) {
      const again = startAgentCore(home);
      await again.initialize();
      expect(await rows(again)).toEqual(before);
      for (const row of before as { sessionId: string }[]) {
        await again.call('session/load', { sessionId: row.sessionId, cwd: folder, mcpServers: [] });
      }
      expect(await rows(again)).toEqual(before);
      await again.close();
    }
    expect(before).toHaveLength(2);
  });

  it('pages through a history in both directions without a load', async () => {
    const client = startAgentCore(tempFolder('home'));
    await client.initialize();
    const sessionId = await client.newSession(tempFolder('work'));
    await client.prompt(sessionId, 'finish with one');
    await client.prompt(sessionId, 'finish with two');
    type Page = {
      entries: { eventId: number }[];
      hasBefore: boolean;
      hasAfter: boolean;
      lastEventId: number;
    };
    const page = async (params: object): Promise<Page> =>
      (await client.call('_pilothouse/history/page', { sessionId, ...params })) as Page;
    const newest = await page({ limit: 5 });
    const ids = ({ entries }: Page): number[] => entries.map(({ eventId }) => eventId);
    expect(ids(newest)).toEqual([...ids(newest)].sort((a, b) => a - b));
    expect(newest).toMatchObject({ hasBefore: true, hasAfter: false });
    let all = ids(newest);
    while ((all[0] ?? 1) > 1) all = [...ids(await page({ limit: 5, before: all[0] })), ...all];
    expect(all).toEqual(Array.from({ length: newest.lastEventId }, (_, index) => index + 1));
    expect(ids(await page({ after: 3, limit: 4 }))).toEqual([4, 5, 6, 7]);
  });

  it('deletes a session for good, and deleting it again is harmless', async () => {
    const client = startAgentCore(tempFolder('home'));
    await client.initialize();
    const folder = tempFolder('work');
    const sessionId = await client.newSession(folder);
    await client.prompt(sessionId, 'finish with x');
    expect(await client.call('session/delete', { sessionId })).toMatchObject({});
    await client.call('session/delete', { sessionId });
    expect((await client.call('session/list', {}))['sessions']).toEqual([]);
    await expect(
      client.request('session/load', { sessionId, cwd: folder, mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32602 });
    expect(existsSync(folder)).toBe(true);
  });

  it('begins a prompt sent right behind a change of mode in the new mode', async () => {
    const folder = tempFolder('work');
    const client = startAgentCore(tempFolder('home'));
    await client.initialize();
    for (let round = 0; round < 5; round += 1) {
      const sessionId = await client.newSession(folder);
      await client.call('session/set_mode', { sessionId, modeId: 'code' });
      const send = (id: string, method: string, params: object): string =>
        `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { sessionId, ...params } })}\n`;
      const text = `write r${round}.txt: x`;
      client.sendRaw(
        send(`m${round}`, 'session/set_mode', { modeId: 'architect' }) +
          send(`p${round}`, 'session/prompt', { prompt: [{ type: 'text', text }] }),
      );
      await client.waitFor(({ message }) => message?.['id'] === `p${round}`);
      expect(existsSync(join(folder, `r${round}.txt`))).toBe(false);
    }
  });

  it('does not make a removed working folder again', async () => {
    const folder = join(tempFolder('outer'), 'work');
    mkdirSync(folder);
    const client = answering(startAgentCore(tempFolder('home')), 'allow_once');
    await client.initialize();
    const sessionId = await client.newSession(folder);
    rmSync(folder, { recursive: true });
    await client.prompt(sessionId, 'write a.txt: x');
    expect(client.textOf(sessionId)).toBe('Done: 1 steps, 1 failed.');
    expect(existsSync(folder)).toBe(false);
  });

  it('changes mode, model, thinking and budget, and answers a bad value with what is allowed', async () => {
    const client = startAgentCore(tempFolder('home'));
    await client.initialize();
    const sessionId = await client.newSession(tempFolder('work'));
    const set = (configId: string, value: string): Promise<Record<string, unknown>> =>
      client.call('session/set_config_option', { sessionId, configId, value });
    expect((await set('mode', 'architect'))['configOptions']).toMatchObject([
      { id: 'mode', currentValue: 'architect' },
      { id: 'model' },
      { id: 'thought_level' },
      { id: 'budget' },
      { id: 'judge', currentValue: 'off' },
      { id: 'checkpoints', currentValue: 'best_effort' },
      { id: 'gate_timeout', currentValue: 'off' },
    ]);
    await set('budget', '{"steps":2}');
    expect((await client.prompt(sessionId, 'list\nlist\nlist\nlist'))['stopReason']).toBe(
      'max_turn_requests',
    );
    await expect(set('mode', 'yolo')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('ask, architect, code, shadow'),
    });
    await expect(set('budget', '{"steps":-1}')).rejects.toMatchObject({ code: -32602 });
    await expect(set('model', 'nobody/nothing')).rejects.toMatchObject({ code: -32602 });
    await expect(set('gate_timeout', '-5')).rejects.toMatchObject({ code: -32602 });
    await set('gate_timeout', '300');
  });

  it('reads only in architect mode and only proposes in shadow mode', async () => {
    const folder = tempFolder('work');
    const client = startAgentCore(tempFolder('home'));
    await client.initialize();
    for (const mode of ['architect', 'shadow']) {
      const sessionId = await client.newSession(folder);
      await client.call('session/set_mode', { sessionId, modeId: mode });
      await client.prompt(sessionId, `write ${mode}.txt: x\nrun touch ${mode}-run.txt\nlist`);
      expect(existsSync(join(folder, `${mode}.txt`))).toBe(false);
      expect(existsSync(join(folder, `${mode}-run.txt`))).toBe(false);
    }
    expect(client.calls('session/request_permission')).toEqual([]);
  });
});
