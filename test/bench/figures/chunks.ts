import { elapsed, inFolder, interleaved } from '../measure.ts';
import { type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

/** Lines a raw pipe writes at once when it is to be as fast as it can. */
const LINES_PER_WRITE = 100;

type Streamed = { readonly chunks: number; readonly lines: number; readonly chars: number };

/** Streams a reply of `count` chunks and counts what arrives; fails if a piece of the text is missing. */
async function stream(peer: Peer, sessionId: string, count: number): Promise<Streamed> {
  let [chunks, lines, chars, text] = [0, 0, 0, 0];
  peer.onCall(({ params }, length) => {
    lines += 1;
    chars += length + 1;
    const update = params?.['update'] as { sessionUpdate?: string; content?: { text?: string } };
    if (update?.sessionUpdate !== 'agent_message_chunk') return;
    chunks += 1;
    text += update.content?.text?.length ?? 0;
  });
  await peer.prompt(sessionId, `stream ${count} chunks\nfinish with .`);
  const expected = count * 'chunk 00000001\n'.length + 1;
  if (text !== expected) throw new Error(`${text} characters arrived instead of ${expected}`);
  return { chunks, lines, chars };
}

async function rawPipe(
  programs: Programs,
  count: number,
  length: number,
  perWrite: number,
): Promise<number> {
  const line = JSON.stringify({ method: 'm', params: 'x'.repeat(Math.max(0, length - 28)) });
  return await withPeer(programs.lines(count, line, perWrite), async (peer) => {
    let lines = 0;
    const all = new Promise<void>((resolve) => {
      peer.onCall(() => {
        lines += 1;
        if (lines === count) resolve();
      });
    });
    // Its start is not part of the pipe.
    await new Promise((resolve) => setTimeout(resolve, 150));
    return await elapsed(async () => {
      peer.write('\n');
      await all;
    });
  });
}

async function oneSize(programs: Programs, count: number, rounds: number): Promise<Figure[]> {
  return await inFolder((folder) =>
    withPeer(programs.ours(`${folder}/home`), async (peer) => {
      await peer.initialize();
      const sessionId = await peer.newSession(folder);
      const { chars, lines } = await stream(peer, sessionId, 1000);
      const length = Math.round(chars / lines);
      let arrived = { lines: 0 };
      const spans = await interleaved(rounds, {
        ours: async () => {
          const fresh = await peer.newSession(folder);
          return await elapsed(async () => {
            arrived = await stream(peer, fresh, count);
          });
        },
        each: () => rawPipe(programs, count, length, 1),
        joined: () => rawPipe(programs, count, length, LINES_PER_WRITE),
      });
      const name = `${count.toLocaleString('en')} text chunks, come as ${arrived.lines} frames`;
      const bytes = `lines of ${length} bytes`;
      return [
        {
          name,
          ours: spans.ours,
          unit: 'ms',
          baseline: { name: `raw pipe, ${bytes}`, value: spans.each },
          aim: { kind: 'ratio', limit: 3 },
        },
        {
          name,
          ours: spans.ours,
          unit: 'ms',
          baseline: { name: `the same, ${LINES_PER_WRITE} lines a write`, value: spans.joined },
          aim: null,
        },
      ] satisfies Figure[];
    }),
  );
}

/** Streamed text end to end: model, engine, journal, protocol, pipe, and a client that parses every line. */
export async function benchChunks(programs: Programs): Promise<readonly Figure[]> {
  return [...(await oneSize(programs, 1000, 9)), ...(await oneSize(programs, 100_000, 5))];
}
