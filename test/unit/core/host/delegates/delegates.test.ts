import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import type { LoopId } from '../../../../../src/core/session/words.ts';
import { aTool, OWNER, ok } from '../../../../support/engine/a-session.ts';
import {
  type DelegateRig,
  delegateRig,
  MortalJournal,
} from '../../../../support/engine/delegate-rig.ts';

type Ended = Extract<HistoryEvent, { type: 'delegate_ended' }>;

function endings(rig: DelegateRig, loopId?: string): readonly Ended[] {
  return rig.history(loopId).filter((event): event is Ended => event.type === 'delegate_ended');
}

function results(rig: DelegateRig, loopId?: string): readonly string[] {
  return rig
    .history(loopId)
    .flatMap((event) =>
      event.type === 'tool_ended'
        ? [
            `${event.result.name} ${event.result.status}: ${event.result.parts
              .map((part) => (part.type === 'text' ? part.text : ''))
              .join('')}`,
          ]
        : [],
    );
}

/** A task for a delegate whose task is another's. */
function nested(text: string, times: number): string {
  return times === 0 ? text : `delegate: ${JSON.stringify(nested(text, times - 1))}`;
}

/** A tool that runs until it is let go or stopped. */
function holding() {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let entered: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const stopped: boolean[] = [];
  const tool = aTool('hold', async ({ signal }) => {
    entered();
    await Promise.race([
      held,
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    ]);
    stopped.push(signal.aborted);
    return ok('held');
  });
  return { tool, begun, release, stopped };
}

describe('a delegate in the foreground', () => {
  it('works in streams of its own, and its last message is the result of the call', async () => {
    const rig = await delegateRig();
    await rig.prompt('delegate: finish with found');
    expect(results(rig)).toEqual(['delegate completed: found']);
    const [root, child] = rig.loops();
    expect(child).toMatchObject({
      parentLoopId: root?.loopId,
      depth: 1,
      state: 'idle',
      prompt: 'finish with found',
    });
    const created = rig.history(child?.loopId)[0];
    expect(created).toMatchObject({
      type: 'session_created',
      delegate: { rootId: rig.hosted.sessionId, depth: 1 },
    });
    const types = rig.history().map(({ type }) => type);
    const order = ['tool_started', 'delegate_started', 'delegate_ended', 'tool_ended'] as const;
    expect(order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b)).toEqual(
      order.map((type) => types.indexOf(type)),
    );
  });

  it('has a name that no other delegate of the session has, whoever started that', async () => {
    const rig = await delegateRig();
    await rig.prompt(`delegate: ${JSON.stringify(`${nested('finish with a', 1)}\nfinish with b`)}`);
    await rig.prompt('delegate: finish with c');
    const named = 'call delegate with {"prompt": "finish with d", "name": "scout"}';
    await rig.prompt(`delegate: ${JSON.stringify(`${named}\nfinish with e`)}`);
    await rig.prompt(named);
    const names = ['delegate 1', 'delegate 2', 'delegate 3', 'delegate 4', 'scout'];
    const all = (one: typeof rig) =>
      one
        .loops()
        .slice(1)
        .map(({ name }) => name);
    expect(all(rig).toSorted()).toEqual([...names, 'scout 2'].toSorted());
    const again = await rig.restart();
    await again.prompt('delegate: finish with f');
    expect(all(again)).toContain('delegate 5');
    expect(new Set(all(again)).size).toBe(all(again).length);
  });

  it('may have delegates of its own, three deep and no deeper', async () => {
    const rig = await delegateRig();
    await rig.prompt(nested('finish with deep', 3));
    expect(rig.loops().map(({ depth }) => depth)).toEqual([0, 1, 2, 3]);
    expect(rig.history(rig.loops()[3]?.loopId).length).toBeGreaterThan(1);
    const deeper = await delegateRig();
    await deeper.prompt(nested('finish with deep', 4));
    expect(deeper.loops().map(({ depth }) => depth)).toEqual([0, 1, 2, 3]);
    expect(results(deeper, deeper.loops()[3]?.loopId)).toEqual([
      expect.stringMatching(/^delegate failed: Delegates may be 3 deep at most/),
    ]);
  });

  it('shows its text and the titles of its calls as the output of the call', async () => {
    const rig = await delegateRig({ tools: [aTool('look', () => ok('seen'))] });
    await rig.prompt(`delegate: ${JSON.stringify('say hello\ncall look\nfinish with bye')}`);
    const output = rig.signals.flatMap((signal) =>
      signal.stream === 'ephemeral' && signal.event.type === 'tool_output'
        ? [signal.event.text]
        : [],
    );
    expect(output.join('')).toBe('hello\n[look]\nbye');
  });

  it('passes its signals to subscribers of the session, in their order', async () => {
    const rig = await delegateRig();
    await rig.prompt('delegate: finish with found');
    const loopId = rig.loops()[1]?.loopId;
    const kinds = rig.signals.map((signal) =>
      signal.stream === 'history'
        ? signal.record.event.type
        : signal.stream === 'loop' && signal.signal.stream === 'history'
          ? `${signal.loopId === loopId ? 'child' : 'other'} ${signal.signal.record.event.type}`
          : '',
    );
    const told = kinds.filter((kind) => /delegate|turn_started|turn_ended/.test(kind));
    expect(told).toEqual([
      'turn_started',
      'delegate_started',
      'child turn_started',
      'child turn_ended',
      'delegate_ended',
      'turn_ended',
    ]);
  });

  it('is ended by a Stop of the session, and says how far it came', async () => {
    const { tool, begun, stopped } = holding();
    const ended: string[] = [];
    const rig = await delegateRig({ tools: [tool], onStopAll: (id) => ended.push(String(id)) });
    const outcome = rig.prompt(`delegate: ${JSON.stringify('say on it\ncall hold')}`);
    await begun;
    expect(rig.hosted.describe().activePrompt).toBe(true);
    rig.hosted.session.cancelBefore(10, { kind: 'cancelled', by: 'test' });
    expect((await outcome).terminal.kind).toBe('user_cancelled');
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(endings(rig)).toMatchObject([
      { outcome: 'cancelled', text: expect.stringContaining('on it') },
    ]);
    expect(stopped).toEqual([true]);
    expect(ended).toContain(rig.loops()[1]?.loopId);
  });

  it('is ended with its call alone, and the turn goes on', async () => {
    const { tool, begun, stopped } = holding();
    const rig = await delegateRig({ tools: [tool] });
    const outcome = rig.prompt('delegate: call hold\nfinish with gone on');
    await begun;
    const call = rig.history().find((event) => event.type === 'tool_started');
    if (call?.type !== 'tool_started') throw new Error('No call was started');
    const options = { reason: 'enough', remind: false, actor: OWNER };
    expect(rig.hosted.session.entries.cancelToolCall(call.toolCallId, options).status).toBe(
      'cancelled',
    );
    expect((await outcome).terminal.kind).toBe('natural');
    expect(results(rig)).toEqual([expect.stringMatching(/^delegate cancelled: /)]);
    expect(stopped).toEqual([true]);
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(endings(rig)).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('leaves nothing visible where it could not be started', async () => {
    const journal = new MortalJournal();
    const rig = await delegateRig({ journal });
    const append = journal.append.bind(journal);
    journal.append = async (sessionId, records) => {
      if (sessionId !== rig.hosted.sessionId) throw new Error('the disk is full');
      return append(sessionId, records);
    };
    await rig.prompt('delegate: finish with found');
    expect(results(rig)).toEqual(['delegate failed: the disk is full']);
    expect([...journal.records.keys()]).toEqual([rig.hosted.sessionId]);
    expect(rig.history().some(({ type }) => type === 'delegate_started')).toBe(false);
    expect(rig.loops()).toHaveLength(1);
    journal.append = append;
    await rig.prompt('delegate: finish with found');
    expect(results(rig).at(-1)).toBe('delegate completed: found');
  });

  it('does not begin where a Stop comes while it is being started', async () => {
    const journal = new MortalJournal();
    const rig = await delegateRig({ journal });
    const append = journal.append.bind(journal);
    journal.append = (sessionId, records) => {
      if (records.some(({ event }) => event.type === 'delegate_started'))
        rig.hosted.session.cancelBefore(10, { kind: 'cancelled', by: 'test' });
      return append(sessionId, records);
    };
    await rig.prompt('delegate in background: finish with found');
    await rig.until(() => endings(rig).length === 1);
    expect(endings(rig)).toMatchObject([
      { outcome: 'cancelled', text: 'Stopped before it began.' },
    ]);
    const types = rig.history(rig.loops()[1]?.loopId).map(({ type }) => type);
    expect(types).not.toContain('turn_started');
  });

  it('is left by an interrupt between idle_pre and idle_post, and what is left of the batch is not run', async () => {
    const { tool, begun } = holding();
    const ran: string[] = [];
    const rig = await delegateRig({
      tools: [
        tool,
        aTool('after', () => {
          ran.push('after');
          return ok('');
        }),
      ],
    });
    const outcome = rig.prompt('together: delegate: call hold ; call after');
    await begun;
    await rig.hosted.session.entries.inject({
      mode: 'interrupt_immediate',
      content: [{ type: 'text', text: 'finish with left' }],
      actor: OWNER,
    });
    expect((await outcome).terminal.kind).toBe('natural');
    expect(results(rig)).toEqual([
      expect.stringMatching(/^delegate interrupted: /),
      expect.stringMatching(/^after interrupted: /),
    ]);
    expect(ran).toEqual([]);
    const seams = rig.signals.flatMap((signal) =>
      signal.stream === 'ephemeral' && signal.event.type === 'seam_passed'
        ? [`${signal.event.seam} ${signal.event.delivered}`]
        : [],
    );
    expect(seams.filter((seam) => seam.startsWith('idle'))).toEqual(['idle_pre 0', 'idle_post 0']);
    expect(endings(rig)).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('asks through the session, and its question is answered there', async () => {
    const rig = await delegateRig();
    const outcome = rig.prompt(`delegate: ${JSON.stringify('ask Which one?\nfinish with asked')}`);
    await rig.until(() => rig.hosted.openGates().length > 0);
    const [gate] = rig.hosted.openGates();
    expect(gate).toMatchObject({ request: { kind: 'ask' }, loopName: 'delegate 1' });
    expect(rig.hosted.describe().openGates).toBe(1);
    expect(rig.loops()[1]?.state).toBe('waiting');
    expect(rig.hosted.subscribe(() => undefined).snapshot.gates).toHaveLength(1);
    const answer = { kind: 'accepted', content: { answer: 'this' } } as const;
    if (gate === undefined) throw new Error('Nothing was asked');
    expect(await rig.hosted.answerGate(gate.gateId, answer, OWNER)).toBe(true);
    expect((await outcome).terminal.kind).toBe('natural');
    expect(rig.hosted.describe().openGates).toBe(0);
    expect(results(rig, rig.loops()[1]?.loopId)).toEqual(['ask completed: this']);
  });

  it('knows nothing of notes that no model is to read', async () => {
    const { tool, begun, release } = holding();
    const rig = await delegateRig({ tools: [tool] });
    const outcome = rig.prompt('call hold\ndelegate: finish with found');
    await begun;
    await rig.hosted.session.entries.inject({
      mode: 'queue',
      content: [{ type: 'text', text: 'a secret note' }],
      actor: OWNER,
    });
    release();
    await outcome;
    const child = rig.loops()[1]?.loopId;
    expect(JSON.stringify(rig.journal.records.get(child as never))).not.toContain('secret note');
    expect(JSON.stringify(rig.history())).toContain('secret note');
  });
});

describe('delegates in the background', () => {
  it('hand back once each, while their parent goes on, two at once', async () => {
    const one = holding();
    const rig = await delegateRig({ tools: [one.tool] });
    const first = JSON.stringify('call hold\nfinish with first');
    await rig.prompt(
      `delegate in background: ${first}\ndelegate in background: finish with second\nfinish with gone on`,
    );
    expect(results(rig)).toHaveLength(2);
    expect(rig.hosted.describe().activePrompt).toBe(true);
    await rig.until(() => endings(rig).length === 1);
    one.release();
    await rig.until(() => endings(rig).length === 2 && !rig.hosted.describe().activePrompt);
    expect(endings(rig).map(({ outcome, text }) => `${outcome} ${text}`)).toEqual([
      'completed second',
      'completed first',
    ]);
    const read = rig
      .history()
      .filter(
        (event) =>
          event.type === 'machine_message' ||
          (event.type === 'turn_started' && event.origin === 'machine'),
      );
    expect(read.map((event) => JSON.stringify(event).match(/first|second/)?.[0])).toEqual([
      'second',
      'first',
    ]);
  });

  it('are read at the next seam of a parent that works', async () => {
    const { tool, begun, release } = holding();
    const rig = await delegateRig({ tools: [tool] });
    const outcome = rig.prompt(
      'delegate in background: finish with found\ncall hold\nfinish with read',
    );
    await begun;
    await rig.until(() => endings(rig).length === 1);
    release();
    await outcome;
    const types = rig.history().map(({ type }) => type);
    expect(types.filter((type) => type === 'turn_started')).toHaveLength(1);
    expect(rig.history().find(({ type }) => type === 'machine_message')).toMatchObject({
      text: expect.stringMatching(
        /^The delegate "delegate 1" \(\S+\) has done its task\..*\nfound$/s,
      ),
    });
  });

  it('are waited for by a delegate that started them: it hands back when it has read what they found', async () => {
    const { tool, begun, release } = holding();
    const rig = await delegateRig({ tools: [tool] });
    const deep = JSON.stringify('call hold\nfinish with deep');
    const outcome = rig.prompt(
      `delegate: ${JSON.stringify(`delegate in background: ${deep}\nfinish with started it`)}`,
    );
    await begun;
    await rig.until(() =>
      rig.signals.some(
        (signal) =>
          signal.stream === 'loop' &&
          signal.origin.depth === 1 &&
          signal.signal.stream === 'history' &&
          signal.signal.record.event.type === 'turn_ended',
      ),
    );
    expect(endings(rig)).toEqual([]);
    release();
    await outcome;
    const [, child] = rig.loops();
    const types = rig.history(child?.loopId).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn_ended')).toHaveLength(2);
    expect(endings(rig, child?.loopId)).toMatchObject([{ outcome: 'completed', text: 'deep' }]);
    expect(endings(rig)).toHaveLength(1);
  });

  it('all end with a Stop of the idle session, which says that it ended something and begins nothing', async () => {
    const { tool, begun } = holding();
    const rig = await delegateRig({ tools: [tool] });
    await rig.prompt('delegate in background: call hold\nfinish with gone on');
    await begun;
    expect(rig.hosted.session.isActive).toBe(false);
    expect(rig.hosted.session.cancelBefore(10, { kind: 'cancelled', by: 'test' })).toBe(true);
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(endings(rig)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(rig.hosted.session.isActive).toBe(false);
    expect(rig.hosted.session.cancelBefore(11, { kind: 'cancelled', by: 'test' })).toBe(false);
    expect(rig.history().filter(({ type }) => type === 'turn_started')).toHaveLength(1);
  });

  it('end with the session, before it counts as closed', async () => {
    const { tool, begun, stopped } = holding();
    const rig = await delegateRig({ tools: [tool] });
    await rig.prompt('delegate in background: call hold\nfinish with gone on');
    await begun;
    await rig.hosted.close('session_closed', OWNER);
    expect(stopped).toEqual([true]);
    expect(endings(rig)).toMatchObject([{ outcome: 'cancelled' }]);
    const closed = [...rig.journal.records].map(([loopId, records]) => [
      loopId,
      records.some(({ record }) => record.event.type === 'session_closed'),
    ]);
    expect(closed.every(([, isClosed]) => isClosed === true)).toBe(true);
  });
});

describe('messages to a delegate', () => {
  it('steer it while it works, and count for what it works on', async () => {
    const { tool, begun, release } = holding();
    const rig = await delegateRig({ tools: [tool] });
    await rig.prompt('delegate in background: call hold\nfinish with gone on');
    await begun;
    const loopId = rig.loops()[1]?.loopId ?? '';
    const origin = { actor: OWNER, agency: 'user' } as const;
    const sent = await rig.hosted.delegates.message(loopId, 'finish with steered', origin);
    expect(sent.delivery).toBe('steered');
    release();
    await rig.until(() => endings(rig).length === 1);
    expect(endings(rig)).toMatchObject([{ requestId: sent.requestId, text: 'steered' }]);
  });

  it('are its next request when it rests, handed back in their turn', async () => {
    const rig = await delegateRig();
    await rig.prompt('delegate: finish with one');
    const loopId = rig.loops()[1]?.loopId ?? '';
    await rig.prompt(
      `call delegate_message with {"loop_id": "${loopId}", "text": "finish with two"}`,
    );
    await rig.until(() => endings(rig).length === 2);
    expect(endings(rig).map(({ text }) => text)).toEqual(['one', 'two']);
    expect(endings(rig).map((event) => event.loopId)).toEqual([loopId, loopId]);
    await rig.prompt('call delegate_list');
    expect(results(rig).at(-1)).toBe(
      `delegate_list completed: ${loopId}: "delegate 1" is done with all it was given`,
    );
  });

  it('as a prompt of a person are a turn of its own, which nobody is handed and Stop ends', async () => {
    const { tool, begun } = holding();
    const rig = await delegateRig({ tools: [tool] });
    await rig.prompt('delegate: finish with one');
    const loopId = (rig.loops()[1]?.loopId ?? '') as LoopId;
    const prompt = (text: string) =>
      rig.hosted.prompt({
        admission: { order: 100 },
        content: [{ type: 'text', text }],
        actor: OWNER,
        loopId,
      });
    expect((await prompt('finish with two')).terminal.kind).toBe('natural');
    const outcome = prompt('call hold');
    await begun;
    expect(rig.hosted.session.cancelBefore(101, { kind: 'cancelled', by: 'test' })).toBe(true);
    expect((await outcome).terminal.kind).toBe('user_cancelled');
    expect(endings(rig).map(({ text }) => text)).toEqual(['one']);
  });

  it('reach only delegates of the loop that sends them', async () => {
    const rig = await delegateRig();
    await rig.prompt(nested('finish with deep', 2));
    const [, , deep] = rig.loops();
    for (const tool of ['delegate_message', 'delegate_stop']) {
      const input = JSON.stringify({ loop_id: deep?.loopId, text: 'say hello' });
      await rig.prompt(`call ${tool} with ${input}`);
      expect(results(rig).at(-1)).toMatch(`${tool} failed: There is no delegate`);
    }
  });
});

describe('stopping a delegate', () => {
  it('ends what it does and its own delegates, and leaves its siblings alone', async () => {
    const one = holding();
    const two = holding();
    const other = { ...two.tool, definition: { ...two.tool.definition, name: 'hold_other' } };
    const rig = await delegateRig({ tools: [one.tool, other] });
    await rig.prompt(
      `delegate in background: ${JSON.stringify(nested('call hold', 1))}\ndelegate in background: call hold_other\nfinish with gone on`,
    );
    await Promise.all([one.begun, two.begun]);
    const [, first] = rig.loops();
    await rig.prompt(`call delegate_stop with {"loop_id": "${first?.loopId}"}`);
    expect(results(rig).at(-1)).toBe('delegate_stop completed: It is stopped.');
    expect(one.stopped).toEqual([true]);
    expect(two.stopped).toEqual([]);
    expect(endings(rig)).toMatchObject([{ loopId: first?.loopId, outcome: 'cancelled' }]);
    expect(endings(rig, first?.loopId)).toMatchObject([{ outcome: 'cancelled' }]);
    await rig.prompt(`call delegate_stop with {"loop_id": "${first?.loopId}"}`);
    expect(results(rig).at(-1)).toBe('delegate_stop completed: It was doing nothing.');
    two.release();
    await rig.until(() => endings(rig).length === 2);
  });
});

describe('what a delegate may do', () => {
  it('is no more than its parent may: a wider mode is refused, a narrower one is kept', async () => {
    const rig = await delegateRig({ config: { mode: 'ask' } });
    await rig.prompt('call delegate with {"prompt": "say hi", "mode": "code"}');
    expect(results(rig).at(-1)).toMatch(
      /^delegate failed: A delegate can't work in the mode "code", which allows more than yours \("ask"\)/,
    );
    expect(rig.loops()).toHaveLength(1);
    expect([...rig.journal.records.keys()]).toEqual([rig.hosted.sessionId]);
    await rig.prompt('call delegate with {"prompt": "say hi", "mode": "architect"}');
    const child = rig.loops()[1]?.loopId;
    expect(rig.history(child)[0]).toMatchObject({ config: { mode: 'architect' } });
  });

  it("costs at most what is left of its parent's turn", async () => {
    const rig = await delegateRig({ config: { budget: { steps: 3 } } });
    await rig.prompt('say one\ndelegate: finish with found');
    expect(rig.history(rig.loops()[1]?.loopId)[0]).toMatchObject({
      config: { budget: { steps: 1 } },
    });
    const poor = await delegateRig({ config: { budget: { steps: 1 } } });
    await poor.prompt('delegate: finish with found');
    expect(results(poor)).toEqual([
      expect.stringMatching(/^delegate failed: Nothing is left of this turn's budget of 1 steps/),
    ]);
  });

  it('is limited to 64 delegates in a session, over restarts too', async () => {
    const rig = await delegateRig();
    const line = 'delegate: finish with x';
    for (let batch = 0; batch < 4; batch += 1)
      await rig.prompt(`together: ${Array.from({ length: 16 }, () => line).join(' ; ')}`);
    expect(rig.loops()).toHaveLength(65);
    await rig.prompt(line);
    expect(results(rig).at(-1)).toMatch(/^delegate failed: This session has had its 64 delegates/);
    const after = await rig.restart();
    await after.prompt(line);
    expect(results(after).at(-1)).toMatch(
      /^delegate failed: This session has had its 64 delegates/,
    );
    expect(after.loops()).toHaveLength(65);
  });
});
