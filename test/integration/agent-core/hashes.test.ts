import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';
import { controlClient, INSTANT, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

/** Flips one bit in the body of one stored record. */
function flip(home: string, sessionId: string, stream: string, seq: number): void {
  const database = new DatabaseSync(join(home, 'sessions.db'));
  const where =
    'WHERE stream = ? AND seq = ? AND n = (SELECT n FROM sessions WHERE session_id = ?)';
  const { body } = database
    .prepare(`SELECT CAST(body AS BLOB) AS body FROM records ${where}`)
    .get(stream, seq, sessionId) as { body: Uint8Array };
  const bytes = Uint8Array.from(body);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  database
    .prepare(`UPDATE records SET body = CAST(? AS TEXT) ${where}`)
    .run(bytes, stream, seq, sessionId);
  database.close();
}

it('the prefix hash pins the history at every event, and verify names the record of a flipped bit and no other', async () => {
  const home = tempFolder('home');
  const { client, sessionId } = await controlClient({ home, env: INSTANT });
  await client.prompt(sessionId, 'write a.txt: x\nfinish with one');
  await client.call('session/cancel', { sessionId });
  await client.prompt(sessionId, 'finish with two');
  const view = (await client.call('harn.session_view.query', { sessionId })) as {
    projection: { prefix_hash: string; last_event_id: number };
  };
  const tip = view.projection.last_event_id;
  const hashes: unknown[] = [];
  for (let eventId = 1; eventId <= tip; eventId += 1)
    hashes.push(
      (await client.call('_pilothouse/history/hash_at', { sessionId, eventId }))['prefixHash'],
    );
  expect(new Set(hashes).size).toBe(tip);
  expect(view.projection.prefix_hash).toContain(String(hashes.at(-1)));
  await client.close();

  const whole = startAgentCore(home);
  await whole.initialize(KNOWS_CONTROL);
  for (const stream of ['history', 'control'])
    expect(await whole.call('_pilothouse/history/verify', { sessionId, stream })).toEqual({
      ok: true,
    });
  await whole.close();

  for (const [stream, eventId] of [
    ['history', Math.floor(tip / 2)],
    ['control', 2],
  ] as const) {
    const copy = join(tempFolder('copy'), 'home');
    mkdirSync(copy);
    copyFileSync(join(home, 'sessions.db'), join(copy, 'sessions.db'));
    flip(copy, sessionId, stream, eventId);
    const flipped = startAgentCore(copy);
    await flipped.initialize(KNOWS_CONTROL);
    expect(await flipped.call('_pilothouse/history/verify', { sessionId, stream })).toMatchObject({
      ok: false,
      eventId,
    });
    const other = stream === 'history' ? 'control' : 'history';
    expect(await flipped.call('_pilothouse/history/verify', { sessionId, stream: other })).toEqual({
      ok: true,
    });
    await flipped.close();
  }
});
