import { expect } from 'vitest';
import { Deferred } from '../../../src/base/deferred.ts';
import { SessionForks } from '../../../src/core/host/controls/history/fork.ts';
import { HistoryDesk } from '../../../src/core/host/controls/history/history-controls.ts';
import { JournaledReceipts } from '../../../src/core/host/controls/receipts/receipt-sink.ts';
import { ReceiptWriter } from '../../../src/core/host/controls/receipts/receipted.ts';
import { noSuchSession } from '../../../src/core/host/controls/sessions-at-hand.ts';
import { foldSession } from '../../../src/core/host/fold-session.ts';
import { branchOf } from '../../../src/core/session/history/branch.ts';
import type { PromptOutcome } from '../../../src/core/session/state/prompts.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import type { ControlOutcome } from '../../../src/protocol/controls.ts';
import { aSession, aTool, OWNER, ok, pathOf, type TestSession, textOf } from './a-session.ts';
import { MemoryCheckpoints } from './memory-checkpoints.ts';
import { calls, type Reply, ScriptedModel, says, streamsForever } from './scripted-model.ts';

/** The session that is tried. */
export const ID = 's1';
export const target = { sessionId: ID, actor: OWNER };
const all = { limit: 1_000_000 };

/** One session with its history controls. */
export type Rig = {
  readonly t: TestSession;
  readonly desk: HistoryDesk;
  readonly model: ScriptedModel;
  readonly room: MemoryCheckpoints;
  /** The receipts so far, oldest first. */
  receipts(sessionId?: string): Promise<readonly ControlOutcome[]>;
  /** A turn that writes a file and says that it is done. */
  writes(text: string): Promise<void>;
  /** The whole texts that the model would read. */
  texts(): readonly string[];
  /** Begins a turn that streams without end; `stop` ends it as Stop does. */
  streams(...before: readonly Reply[]): Promise<{ readonly stop: () => Promise<PromptOutcome> }>;
  restart(): Promise<Rig>;
};

function rigAround(t: TestSession, model: ScriptedModel, room: MemoryCheckpoints): Rig {
  const { session, journal } = t;
  let ids = 0;
  const unique = (): string => {
    ids += 1;
    return `new${ids}`;
  };
  const live = (id: string) => (id === ID ? session : undefined);
  const writer = new ReceiptWriter(new JournaledReceipts(live, journal), {
    unique,
    secret: unique,
  });
  const desk = new HistoryDesk({
    sessions: {
      live,
      using: async (id, work) => {
        if (id !== ID) throw noSuchSession(id);
        return work(session);
      },
      nextOrder: () => 1_000,
    },
    receipts: writer,
    forks: new SessionForks({
      journal,
      newId: unique,
      now: () => 5,
      source: async (id) => {
        if (id !== ID) throw noSuchSession(id);
        const { timeline, tip, conversation, config } = session;
        const branch = branchOf(timeline.moves, tip.lastEventId);
        return { branch, marks: conversation.marks, config };
      },
      checkEnvironment: () => undefined,
      open: async (id) => {
        const row = await journal.session(id);
        return { sessionId: id, describe: () => row } as never;
      },
    }),
    timeline: async () => session.timeline,
  });
  return {
    t,
    desk,
    model,
    room,
    receipts: async (sessionId = ID) =>
      (await journal.readControl(sessionId as SessionId, all)).flatMap(({ event }) =>
        event.type === 'control_outcome' ? [event.receipt] : [],
      ),
    writes: async (text) => {
      model.add(calls(['write', { path: 'a', text }]), says(`wrote ${text}`));
      await t.prompt(`write ${text}`);
    },
    texts: () =>
      session.conversation.messages.flatMap((message) => {
        if (message.role === 'assistant') return message.text === '' ? [] : [message.text];
        if (message.role === 'tool') return [];
        return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      }),
    streams: async (...before) => {
      const begun = new Deferred<void>();
      model.add(
        ...before,
        streamsForever('unfinished', () => begun.resolve()),
      );
      const running = t.prompt('run');
      await begun.promise;
      return {
        stop: () => {
          session.cancelBefore(1_000, { kind: 'cancelled', by: 'test' });
          return running;
        },
      };
    },
    restart: async () => rigAround(await t.restart(), model, room),
  };
}

/** A session with a tool that writes files. */
export async function aRig(): Promise<Rig> {
  const model = new ScriptedModel();
  const room = new MemoryCheckpoints();
  const write = aTool('write', (_context, input) => {
    room.files.set(pathOf(input), textOf(input));
    return ok('written');
  });
  return rigAround(await aSession({ model, tools: [write], checkpoints: room }), model, room);
}

/** The live session is what its journal says. */
export async function expectSameAfterRestart(rig: Rig): Promise<void> {
  const { session, journal } = rig.t;
  const folded = await foldSession(journal, ID as SessionId);
  expect(folded.conversation.messages).toEqual(session.conversation.messages);
  expect(folded.conversation.messageCount).toBe(session.conversation.messageCount);
  expect(folded.conversation.marks.cut({ whole: true })).toEqual(
    session.conversation.marks.cut({ whole: true }),
  );
  expect(folded.state.timeline.branch).toEqual(session.timeline.branch);
  expect(folded.state.timeline.undone).toEqual(session.timeline.undone);
  expect(folded.state.timeline.reachable()).toEqual(session.timeline.reachable());
}
