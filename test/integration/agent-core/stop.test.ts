import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  answering,
  eventually,
  isAlive,
  pidFrom,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';

const BATCH =
  'together: run echo first > one.txt && sleep 0.5 ; write two.txt: second ; run echo third > three.txt';

async function inCodeMode(home = tempFolder('home')) {
  const folder = tempFolder('work');
  const client = answering(startAgentCore(home), 'allow_once');
  await client.initialize();
  const sessionId = await client.newSession(folder);
  await client.call('session/set_mode', { sessionId, modeId: 'code' });
  return { client, folder, sessionId, file: (name: string) => join(folder, name) };
}

describe('Stop', () => {
  it('leaves no trace of the later tools of a batch, while the untouched twin writes them all', async () => {
    const twin = await inCodeMode();
    await twin.client.prompt(twin.sessionId, BATCH);
    expect(['one.txt', 'two.txt', 'three.txt'].map((name) => existsSync(twin.file(name)))).toEqual([
      true,
      true,
      true,
    ]);

    const stopped = await inCodeMode();
    const outcome = stopped.client.prompt(stopped.sessionId, BATCH);
    await eventually(() => existsSync(stopped.file('one.txt')), "the first tool's marker");
    stopped.client.notify('session/cancel', { sessionId: stopped.sessionId });
    expect(await outcome).toMatchObject({
      stopReason: 'cancelled',
      _meta: { harn: { terminal: { kind: 'user_cancelled', owner: 'user' } } },
    });
    await stopped.client.prompt(stopped.sessionId, 'wait 1');
    expect(['two.txt', 'three.txt'].map((name) => existsSync(stopped.file(name)))).toEqual([
      false,
      false,
    ]);
  });

  it('kills the whole process group of a running command and every background process, but no other session', async () => {
    const one = await inCodeMode();
    const otherFolder = tempFolder('other');
    const other = await one.client.newSession(otherFolder);
    await one.client.call('session/set_mode', { sessionId: other, modeId: 'code' });
    await one.client.prompt(other, 'start echo $$ > bg.pid; exec sleep 300');
    const survivor = await pidFrom(join(otherFolder, 'bg.pid'));
    await one.client.prompt(one.sessionId, 'start echo $$ > bg.pid; exec sleep 300');
    const background = await pidFrom(one.file('bg.pid'));
    const outcome = one.client.prompt(
      one.sessionId,
      'run sh -c \'sh -c "echo \\$\\$ > deep.pid; sleep 300" & wait\'',
    );
    const deep = await pidFrom(one.file('deep.pid'));
    expect([deep, background, survivor].map(isAlive)).toEqual([true, true, true]);
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect((await outcome)['stopReason']).toBe('cancelled');
    await eventually(
      () => !isAlive(deep) && !isAlive(background),
      'the end of both process groups',
    );
    expect(isAlive(survivor)).toBe(true);
    await one.client.close();
    await eventually(() => !isAlive(survivor), 'the end of the last process');
  });

  it('ends what left its group, also when nothing runs any more', async () => {
    const { client, sessionId, file } = await inCodeMode();
    await client.prompt(
      sessionId,
      'start setsid sh -c "echo \\$\\$ > away.pid; exec sleep 300"; sleep 300',
    );
    const away = await pidFrom(file('away.pid'));
    expect(isAlive(away)).toBe(true);
    expect(await client.call('session/cancel', { sessionId })).toMatchObject({
      status: 'already_cancelled',
    });
    await eventually(() => !isAlive(away), 'the end of the process that left its group');
  });

  it('right after the prompt, in the same write, runs nothing at all', async () => {
    const { client, sessionId, file } = await inCodeMode();
    const prompt = {
      jsonrpc: '2.0',
      id: 'p',
      method: 'session/prompt',
      params: { sessionId, prompt: [{ type: 'text', text: 'write a.txt: x' }] },
    };
    const cancel = { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } };
    client.sendRaw(`${JSON.stringify(prompt)}\n${JSON.stringify(cancel)}\n`);
    const answer = await client.waitFor(({ message }) => message?.['id'] === 'p');
    expect(answer.message).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(client.updates.filter(({ update }) => update.sessionUpdate === 'tool_call')).toEqual([]);
    expect((await client.prompt(sessionId, 'finish with later'))['stopReason']).toBe('end_turn');
    expect(existsSync(file('a.txt'))).toBe(false);
  });

  it('with a question open answers the prompt, takes the question back and ignores a late answer', async () => {
    const folder = tempFolder('work');
    const client = startAgentCore(tempFolder('home'));
    let withdrawn = false;
    client.onRequest('session/request_permission', (_params, { signal }) => {
      signal.addEventListener('abort', () => {
        withdrawn = true;
      });
      return undefined;
    });
    await client.initialize();
    const sessionId = await client.newSession(folder);
    const outcome = client.prompt(sessionId, 'write a.txt: x');
    const asked = await client.waitFor(
      ({ message }) => message?.['method'] === 'session/request_permission',
    );
    client.notify('session/cancel', { sessionId });
    expect((await outcome)['stopReason']).toBe('cancelled');
    expect(withdrawn).toBe(true);
    client.send({
      jsonrpc: '2.0',
      id: asked.message?.['id'],
      result: { outcome: { outcome: 'selected', optionId: 'allow_once' } },
    });
    await client.prompt(sessionId, 'finish with next');
    expect(existsSync(join(folder, 'a.txt'))).toBe(false);
  });

  it('twice is harmless, and a stop of an unknown session says so', async () => {
    const { client, sessionId } = await inCodeMode();
    const outcome = client.prompt(sessionId, 'wait 30');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    expect(await client.call('session/cancel', { sessionId })).toMatchObject({
      status: 'cancelled',
    });
    expect(await client.call('session/cancel', { sessionId })).toMatchObject({
      status: 'already_cancelled',
    });
    expect((await outcome)['stopReason']).toBe('cancelled');
    await expect(client.request('session/cancel', { sessionId: 'nobody' })).rejects.toMatchObject({
      code: -32004,
    });
  });

  it('keeps the text that was streamed', async () => {
    const { client, sessionId } = await inCodeMode();
    const outcome = client.prompt(sessionId, 'count slowly from 1 to 100');
    await client.waitForUpdate(
      ({ update }) =>
        update.sessionUpdate === 'agent_message_chunk' &&
        'content' in update &&
        JSON.stringify(update.content).includes('3'),
    );
    client.notify('session/cancel', { sessionId });
    await outcome;
    const live = client.textOf(sessionId);
    expect(live).toContain('3');
    expect(live).not.toContain('100');
    const from = client.updates.length;
    await client
      .call('session/load', { sessionId, cwd: tempFolder('x'), mcpServers: [] })
      .catch(() => undefined);
    const replayed = client.updates
      .slice(from)
      .flatMap(({ update }) =>
        update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
          ? [update.content.text]
          : [],
      );
    expect(replayed.join('')).toBe(live);
  });
});

describe('the end of input in the middle of a turn', () => {
  it('ends the process within two seconds with all its children, and the turn is kept', async () => {
    const home = tempFolder('home');
    const { client, sessionId, file, folder } = await inCodeMode(home);
    const prompt = client
      .prompt(sessionId, 'say before\nrun echo $$ > child.pid; exec sleep 300')
      .catch(() => undefined);
    const child = await pidFrom(file('child.pid'));
    const started = performance.now();
    expect((await client.close()).code).toBe(0);
    expect(performance.now() - started).toBeLessThan(2_500);
    await prompt;
    await eventually(() => !isAlive(child), 'the end of the child');

    const again = startAgentCore(home);
    await again.initialize();
    await again.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(again.textOf(sessionId)).toBe('before');
  });
});

describe('a killed process', () => {
  it('comes back with the call marked as outcome unknown and not run again', async () => {
    const home = tempFolder('home');
    const { client, sessionId, file, folder } = await inCodeMode(home);
    client
      .prompt(sessionId, 'run echo ran >> ran.txt; echo $$ > child.pid; exec sleep 5')
      .catch(() => undefined);
    const child = await pidFrom(file('child.pid'));
    if (client.pid === undefined) throw new Error('no process');
    process.kill(client.pid, 'SIGKILL');
    await client.exited;

    const again = answering(startAgentCore(home), 'allow_once');
    await again.initialize();
    await again.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    const states = again.updates.flatMap(({ update }) =>
      update.sessionUpdate === 'tool_call_update' && update.status ? [update.status] : [],
    );
    expect(states.at(-1)).toBe('failed');
    expect((await again.prompt(sessionId, 'finish with on'))['stopReason']).toBe('end_turn');
    expect(readFileSync(file('ran.txt'), 'utf8')).toBe('ran\n');
    await eventually(() => !isAlive(child), 'the end of the orphan');
  });

  it.each(['session/load', 'session/resume'])(
    'works all the same after a %s of the busy session (A08)',
    async (method) => {
      const { client, folder, sessionId, file } = await inCodeMode();
      const outcome = client.prompt(sessionId, 'run echo $$ > busy.pid; exec sleep 300');
      const pid = await pidFrom(file('busy.pid'));
      await client.call(method, { sessionId, cwd: folder, mcpServers: [] });
      expect(isAlive(pid)).toBe(true);
      client.notify('session/cancel', { sessionId });
      expect((await outcome)['stopReason']).toBe('cancelled');
      await eventually(() => !isAlive(pid), 'the end of the command');
      expect((await client.prompt(sessionId, 'finish with again'))['stopReason']).toBe('end_turn');
    },
  );
});
