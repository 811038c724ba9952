import { readdirSync, readFileSync } from 'node:fs';
import { Deferred } from '../../../src/base/deferred.ts';
import { inFolder, interleaved, median, pause } from '../measure.ts';
import { type Message, type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

/** A state in which a turn is stopped: what it does, and how its client knows that it is there. */
type State = {
  readonly script: (mark: string) => string;
  readonly isThere: (message: Message) => boolean;
  readonly mode: 'code' | 'ask';
};

const isUpdate = (kind: string, status?: string) => (message: Message) => {
  const update = message.params?.['update'];
  if (typeof update !== 'object' || update === null || !('sessionUpdate' in update)) return false;
  if (update.sessionUpdate !== kind) return false;
  return status === undefined || ('status' in update && update.status === status);
};

const STATES: Readonly<Record<'streaming' | 'tool' | 'batch' | 'gate', State>> = {
  streaming: {
    script: () => 'count slowly from 1 to 500',
    isThere: isUpdate('agent_message_chunk'),
    mode: 'code',
  },
  tool: {
    script: (mark) => `run sleep ${mark}`,
    isThere: isUpdate('tool_call_update', 'in_progress'),
    mode: 'code',
  },
  batch: {
    script: (mark) => `together: run sleep ${mark} ; write never.txt: text ; run sleep 9`,
    isThere: isUpdate('tool_call_update', 'in_progress'),
    mode: 'code',
  },
  gate: {
    script: () => 'write asked.txt: text',
    isThere: ({ method }) => method === 'session/request_permission',
    mode: 'ask',
  },
};

const ROUNDS = 25;

let marks = 0;

/** From sending the cancel to the answer of the prompt, and to the end of every process of the turn. */
async function stopIn(peer: Peer, sessionId: string, state: State): Promise<Stopped> {
  const { script, isThere, mode } = state;
  await peer.request('session/set_mode', { sessionId, modeId: mode });
  marks += 1;
  const mark = `97.${String(marks).padStart(6, '0')}`;
  const there = new Deferred<void>();
  peer.onCall((message) => {
    if (!isThere(message)) return;
    there.resolve();
  });
  const prompted = peer.prompt(sessionId, script(mark));
  await there.promise;
  while (state.script === STATES.tool.script && !isAlive(mark)) await pause(2);
  const started = performance.now();
  peer.write(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } })}\n`,
  );
  await prompted;
  const sealed = performance.now() - started;
  while (isAlive(mark)) await pause(1);
  return { sealed, gone: performance.now() - started };
}

type Stopped = { readonly sealed: number; readonly gone: number };

/** True while a process with this argument runs. */
function isAlive(mark: string): boolean {
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && commandOf(name).includes(mark));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** How long Stop takes while a reply streams, in a command, in a batch and at an open question. */
export async function benchStop(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder((folder) =>
    withPeer(programs.ours(`${folder}/home`), async (ours) => {
      await ours.initialize();
      const sessionId = await ours.newSession(folder);
      await ours.request('session/set_config_option', {
        sessionId,
        configId: 'model',
        value: 'rehearsal/script',
      });
      const gone: number[] = [];
      const sealed = (name: keyof typeof STATES) => async () => {
        const stopped = await stopIn(ours, sessionId, STATES[name]);
        if (name === 'tool') gone.push(stopped.gone);
        return stopped.sealed;
      };
      const spans = await interleaved(ROUNDS, {
        streaming: sealed('streaming'),
        tool: sealed('tool'),
        batch: sealed('batch'),
        gate: sealed('gate'),
        roundTrip: async () => {
          const started = performance.now();
          await ours.request('session/list', {});
          return performance.now() - started;
        },
      });
      const baseline = { name: 'session/list', value: spans.roundTrip };
      const figure = (name: string, value: number, limit: number): Figure => ({
        name,
        ours: value,
        unit: 'ms',
        baseline,
        aim: { kind: 'below', limit },
      });
      return [
        figure('stop while streaming', spans.streaming, 10),
        figure('stop in a command', spans.tool, 20),
        figure('stop in a batch', spans.batch, 20),
        figure('stop at an open question', spans.gate, 20),
        figure('its processes are gone', median(gone), 1_000),
      ];
    }),
  );
}
