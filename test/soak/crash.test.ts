import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AcpTestClient } from '../support/acp-client/client.ts';
import {
  answering,
  eventually,
  isAlive,
  startAgentCore,
  tempFolder,
} from '../support/agent-core/agent-core.ts';
import { randomFrom } from '../support/random.ts';

const KILLS = process.env['PILOTHOUSE_SOAK'] === 'full' ? 60 : 6;
const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
/** A kill comes at the latest this long after the prompt: the script below takes about as long. */
const MAX_MS = 4_000;

/** Each round's commands append their own name to a file, so that running one twice shows. */
function script(round: number): string {
  return [
    `say round ${round} begins`,
    `together: run echo ${round}.a >> ran.txt ; run echo ${round}.b >> ran.txt ; write r${round}.txt: ${round}`,
    `start echo $$ >> pids.txt; exec sleep 300`,
    `run echo ${round}.c >> ran.txt; sleep 0.3; echo ${round}.d >> ran.txt`,
    `count slowly from 1 to 5`,
    `finish with round ${round} ends`,
  ].join('\n');
}

async function connect(home: string): Promise<AcpTestClient> {
  const client = answering(startAgentCore(home), 'allow_once');
  await client.initialize();
  return client;
}

/** Replays the whole session and returns its text and the state of each of its calls. */
async function replay(
  client: AcpTestClient,
  sessionId: string,
  cwd: string,
): Promise<{ text: string; prompts: string; calls: Map<string, string> }> {
  const from = client.updates.length;
  await client.call('session/load', { sessionId, cwd, mcpServers: [] });
  const calls = new Map<string, string>();
  let text = '';
  let prompts = '';
  for (const { update } of client.updates.slice(from)) {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
      text += update.content.text;
    if (update.sessionUpdate === 'user_message_chunk' && update.content.type === 'text')
      prompts += `${update.content.text}\n`;
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      if (update.status) calls.set(update.toolCallId, update.status);
    }
  }
  return { text, prompts, calls };
}

describe(`agent-core, killed at random (seed ${SEED})`, () => {
  it(`loses nothing that was told and runs nothing twice over ${KILLS} kills`, {
    timeout: 600_000,
  }, async () => {
    const random = randomFrom(SEED);
    const home = tempFolder('home');
    const folder = tempFolder('work');
    let client = await connect(home);
    const sessionId = await client.newSession(folder);
    await client.call('session/set_mode', { sessionId, modeId: 'code' });
    for (let round = 1; round <= KILLS; round += 1) {
      const from = client.updates.length;
      client.prompt(sessionId, script(round)).catch(() => undefined);
      const killAt = random() * MAX_MS;
      await new Promise((resolve) => setTimeout(resolve, killAt));
      if (client.pid === undefined) throw new Error('no process');
      process.kill(client.pid, 'SIGKILL');
      await client.exited;
      const told = client.updates
        .slice(from)
        .filter(
          ({ update }) =>
            update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update',
        );

      client = await connect(home);
      expect(
        await client.call('_pilothouse/history/verify', { sessionId }),
        `round ${round}: the chain`,
      ).toEqual({ ok: true });
      const after = await replay(client, sessionId, folder);
      for (const { update } of told) {
        if ('toolCallId' in update)
          expect(after.calls.has(update.toolCallId), `round ${round}: a call that was told`).toBe(
            true,
          );
      }
      for (const [id, status] of after.calls)
        expect(['completed', 'failed'], `round ${round}: ${id}`).toContain(status);
      const ran = existsSync(join(folder, 'ran.txt'))
        ? readFileSync(join(folder, 'ran.txt'), 'utf8').trim().split('\n')
        : [];
      expect(new Set(ran).size, `round ${round}: nothing ran twice`).toBe(ran.length);
      const again = await replay(client, sessionId, folder);
      expect(again, `round ${round}: the second replay`).toEqual(after);
    }
    expect((await client.prompt(sessionId, 'finish with still here'))['stopReason']).toBe(
      'end_turn',
    );
    await client.close();
    const pids = existsSync(join(folder, 'pids.txt'))
      ? readFileSync(join(folder, 'pids.txt'), 'utf8').trim().split('\n').map(Number)
      : [];
    await eventually(() => !pids.some(isAlive), 'the end of every background process');
  });
});
