import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { HandBack } from '../../../../../src/core/session/commands/entry-points.ts';
import { machineText } from '../../../../../src/core/session/control/machine-inbox.ts';
import type { ControlEvent } from '../../../../../src/core/session/control-events.ts';
import type { ModelRequest } from '../../../../../src/core/session/model.ts';
import type { StoredRecord } from '../../../../../src/core/session/ports.ts';
import type { ProcessInfo } from '../../../../../src/core/session/tool.ts';
import type { CommandId, LoopId, ProcessId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import {
  calls,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;
const P1 = 'p1' as ProcessId;

function ended(change: Partial<ProcessInfo> = {}): ProcessInfo {
  return {
    processId: P1,
    command: 'npm run dev',
    startedAt: 1,
    state: 'exited',
    exitCode: 0,
    signal: null,
    ...change,
  };
}

function result(change: Partial<HandBack> = {}): HandBack {
  return {
    requestId: 'r1' as CommandId,
    loopId: 'child' as LoopId,
    outcome: 'completed',
    text: 'The answer is 42',
    usage: { inputTokens: 1, outputTokens: 1 },
    background: true,
    ...change,
  };
}

function records(t: TestSession): readonly StoredRecord[] {
  return t.journal.records.get(t.session.sessionId) ?? [];
}

function control(t: TestSession): readonly ControlEvent[] {
  return records(t).flatMap((one) => (one.stream === 'control' ? [one.record.event] : []));
}

function resolutions(t: TestSession, commandId: string): readonly string[] {
  return control(t).flatMap((event) =>
    event.type === 'command_resolved' && event.commandId === commandId ? [event.resolution] : [],
  );
}

/** What the model read of the machine, in order. */
function told(request: ModelRequest | undefined): readonly string[] {
  return (request?.messages ?? []).flatMap((message) =>
    message.role === 'user' && message.origin === 'machine'
      ? message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  );
}

async function idle(t: TestSession): Promise<void> {
  while (t.session.isActive) await new Promise((resolve) => setImmediate(resolve));
}

describe('the end of a background process', () => {
  it('is recorded as a command with its effect, and read once at the next seam', async () => {
    const model = new ScriptedModel(says('one'), says('two'));
    const t = await aSession({ model });
    await t.session.record({ type: 'process_started', processId: P1, command: 'npm run dev' });
    expect(await t.session.entries.notifyProcess(ended({ exitCode: 3 }))).toBe('accepted');
    const stored = records(t).slice(-2);
    expect(stored).toMatchObject([
      {
        stream: 'control',
        record: {
          event: {
            type: 'command_issued',
            command: { type: 'process_notification', command_id: 'p1/ended', created_at: 0 },
          },
        },
      },
      {
        stream: 'history',
        record: { event: { type: 'process_ended' }, cause: { command_ids: ['p1/ended'] } },
      },
    ]);
    expect(t.session.isActive).toBe(false);
    await t.prompt('go');
    await t.prompt('more');
    expect(told(model.requests[0])).toEqual([
      'The background process p1 (npm run dev) ended with exit code 3.',
    ]);
    expect(told(model.requests[1])).toEqual(told(model.requests[0]));
    expect(resolutions(t, 'p1/ended')).toEqual(['folded']);
    const message = records(t).find(({ record }) => record.event.type === 'machine_message');
    expect(message?.record.cause).toEqual({ command_ids: ['p1/ended'] });
  });

  it('told again is a duplicate, with another end a collision, also after a restart', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await t.session.entries.notifyProcess(ended());
    for (const session of [t, await t.restart()]) {
      expect(await session.session.entries.notifyProcess(ended())).toBe('duplicate');
      expect(await session.session.entries.notifyProcess(ended({ exitCode: 1 }))).toBe('collision');
    }
    expect(control(t).filter(({ type }) => type === 'command_issued')).toHaveLength(1);
  });

  it('is refused where nothing can be recorded any more', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await t.session.close({ kind: 'closed', why: 'session_closed' }, OWNER);
    expect(await t.session.entries.notifyProcess(ended())).toBe('stopped');
    const failing = await aSession({ model: new ScriptedModel() });
    failing.journal.failure = new Error('disk');
    await expect(failing.session.entries.notifyProcess(ended())).rejects.toThrow('disk');
    expect(
      await failing.session.entries.notifyProcess(ended({ processId: 'p2' as ProcessId })),
    ).toBe('stopped');
  });

  it('survives a restart until a turn has read it', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await t.session.entries.notifyProcess(ended());
    const again = await (await t.restart()).restart();
    const model = new ScriptedModel(says('ok'));
    const last = await again.restart({ model });
    expect(last.session.isActive).toBe(false);
    await last.prompt('go');
    expect(told(model.requests[0])).toHaveLength(1);
    const after = new ScriptedModel(says('ok'));
    await (await last.restart({ model: after })).prompt('and now');
    expect(told(after.requests[0])).toHaveLength(1);
    expect(resolutions(t, 'p1/ended')).toEqual(['folded']);
  });

  it('is reported lost once where the program ended first, and names the process', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await t.session.record({ type: 'process_started', processId: P1, command: 'npm run dev' });
    const first = await t.restart();
    await first.restart();
    const model = new ScriptedModel(says('ok'));
    const t3 = await first.restart({ model });
    const issued = control(t3).filter((event) => event.type === 'command_issued');
    expect(issued).toMatchObject([{ command: { command_id: 'p1/ended', state: 'lost' } }]);
    const ends = records(t3).filter(({ record }) => record.event.type === 'process_ended');
    expect(ends).toMatchObject([{ record: { cause: { command_ids: ['p1/ended'] } } }]);
    await t3.prompt('go');
    expect(told(model.requests[0])).toEqual([
      expect.stringMatching(/^The background process p1 \(npm run dev\) is lost.*process group/),
    ]);
  });
});

describe('a result of a delegate in the background', () => {
  it('begins a turn of the idle parent that nobody waits for', async () => {
    const model = new ScriptedModel(says('started'), says('thanks'));
    const t = await aSession({ model });
    await t.prompt('delegate it');
    expect(await t.session.entries.handBack(result())).toBe('accepted');
    const started = await t.next('turn_started', 2);
    expect(started).toMatchObject({
      origin: 'machine',
      commandId: 'r1/result',
      content: [{ type: 'text', text: expect.stringContaining('The answer is 42') }],
    });
    expect(t.session.isActive).toBe(true);
    await t.next('turn_ended', 2);
    await idle(t);
    expect(told(model.requests[1])).toEqual([expect.stringContaining('The answer is 42')]);
    expect(resolutions(t, 'r1/result')).toEqual(['started']);
    expect(t.types().filter((type) => type === 'delegate_ended')).toHaveLength(1);
    expect(t.session.title).toBe('delegate it');
    expect(t.session.conversation.brief.objective).toBe('delegate it');
  });

  it('waits for the seam of a running turn, behind the results of its batch', async () => {
    const model = new ScriptedModel(calls(['w', {}]), says('done'));
    const t: TestSession = await aSession({
      model,
      tools: [
        aTool('w', async () => {
          await t.session.entries.handBack(result());
          return ok('worked');
        }),
      ],
    });
    await t.prompt('go');
    expect(
      model.requests[1]?.messages.map((one) => (one.role === 'user' ? one.origin : one.role)),
    ).toEqual(['prompt', 'assistant', 'tool', 'machine']);
    await idle(t);
    expect(t.types().filter((type) => type === 'turn_started')).toHaveLength(1);
    expect(resolutions(t, 'r1/result')).toEqual(['folded']);
  });

  it('that comes behind the last seam begins the next turn; others that wait are read in it', async () => {
    const model = new ScriptedModel();
    const t = await aSession({ model });
    model.add(async function* () {
      yield { type: 'text', text: 'final' };
      await t.session.entries.handBack(result());
      await t.session.entries.handBack(result({ requestId: 'r2' as CommandId, outcome: 'failed' }));
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    }, says('read both'));
    await t.prompt('go');
    await t.next('turn_ended', 2);
    await idle(t);
    expect(told(model.requests[1])).toEqual([
      expect.stringContaining('request r1'),
      expect.stringMatching(/failed.*request r2/s),
    ]);
    expect(model.requests).toHaveLength(2);
    expect([resolutions(t, 'r1/result'), resolutions(t, 'r2/result')]).toEqual([
      ['started'],
      ['folded'],
    ]);
  });

  it('counts once for each request, also after a restart', async () => {
    const t = await aSession({ model: new ScriptedModel(says('one'), says('read')) });
    await t.prompt('go');
    await t.session.entries.handBack(result());
    await idle(t);
    expect(await t.session.entries.handBack(result({ text: 'another' }))).toBe('duplicate');
    const again = await t.restart();
    expect(await again.session.entries.handBack(result())).toBe('duplicate');
    expect(t.types().filter((type) => type === 'delegate_ended')).toHaveLength(1);
  });

  it('can be stopped', async () => {
    const begun = new Deferred<void>();
    const reading = streamsForever('reading', () => begun.resolve());
    const model = new ScriptedModel(says('one'), reading);
    const t = await aSession({ model });
    await t.prompt('go');
    await t.session.entries.handBack(result());
    await begun.promise;
    expect(t.session.cancelBefore(9, STOP)).toBe(true);
    expect(await t.next('turn_ended', 2)).toMatchObject({ terminal: { kind: 'user_cancelled' } });
    await idle(t);
    expect(model.requests).toHaveLength(2);
  });

  it.each(['a Stop', 'a restart'])('waits after %s until somebody sends something', async (why) => {
    const begun = new Deferred<void>();
    const before = new ScriptedModel(streamsForever('x', () => begun.resolve()));
    const first = await aSession({ model: before });
    const running = first.prompt('go');
    await begun.promise;
    first.session.cancelBefore(9, STOP);
    await running;
    const model = new ScriptedModel(says('read'));
    if (why === 'a Stop') before.add(says('read'));
    else await first.session.entries.handBack(result());
    const t = why === 'a Stop' ? first : await first.restart({ model });
    if (why === 'a Stop') await t.session.entries.handBack(result());
    expect(t.session.isActive).toBe(false);
    await t.prompt('what came of it?', 20);
    const { requests } = why === 'a Stop' ? before : model;
    expect(told(requests.at(-1))).toEqual([expect.stringContaining('The answer is 42')]);
    expect(resolutions(t, 'r1/result')).toEqual(['folded']);
  });

  it('waits while the next-turn queue is paused, and begins when it goes on', async () => {
    const t = await aSession({ model: new ScriptedModel(says('one'), says('read')) });
    await t.prompt('go');
    await t.session.entries.changeQueue({ kind: 'pause' }, OWNER);
    await t.session.entries.handBack(result());
    expect(t.session.isActive).toBe(false);
    await t.session.entries.changeQueue({ kind: 'resume' }, OWNER);
    expect(await t.next('turn_started', 2)).toMatchObject({ origin: 'machine' });
    await idle(t);
  });

  it('lets a person go first', async () => {
    const release = new Deferred<void>();
    const model = new ScriptedModel();
    const t = await aSession({ model });
    model.add(async function* () {
      await release.promise;
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    }, says('both'));
    const first = t.prompt('one');
    const second = t.prompt('two');
    await t.next('turn_started');
    await new Promise((resolve) => setImmediate(resolve));
    await t.session.entries.handBack(result());
    release.resolve();
    await Promise.all([first, second]);
    await idle(t);
    expect(t.types().filter((type) => type === 'turn_started')).toHaveLength(2);
    expect(told(model.requests[1])).toHaveLength(1);
  });
});

describe('a result of a delegate that a call waits for', () => {
  it('is recorded and resolved, and is no message of its own', async () => {
    const model = new ScriptedModel(says('ok'));
    const t = await aSession({ model });
    await t.session.entries.handBack(result({ background: false }));
    expect(resolutions(t, 'r1/result')).toEqual(['applied']);
    expect(t.session.isActive).toBe(false);
    await t.prompt('go');
    expect(told(model.requests[0])).toEqual([]);
    expect(await t.session.entries.handBack(result())).toBe('duplicate');
  });
});

describe('the text of a command', () => {
  it('is the same for the same command, and names what is known', () => {
    const envelope = {
      v: 1,
      cause: { command_ids: ['r1' as CommandId], loop_id: 'child' as LoopId },
      agency: 'machine',
      actor: OWNER,
      created_at: 5,
      target: { session_id: 's1' as never, loop_id: 's1' as LoopId },
    } as const;
    const command = {
      ...envelope,
      type: 'subagent_result',
      command_id: 'r1/result' as CommandId,
      request_id: 'r1' as CommandId,
      outcome: 'interrupted',
      background: true,
      blocks: [{ type: 'text', text: 'half' }],
    } as const;
    expect(machineText(command)).toBe(
      'The delegate child was interrupted. Its result for request r1:\nhalf',
    );
    expect(machineText(command, { delegate: 'Tester' })).toContain('"Tester" (child)');
  });
});
