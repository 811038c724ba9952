import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NextTurnQueue } from '../../src/protocol/pilothouse.ts';
import type { AcpTestClient } from '../support/acp-client/client.ts';
import { answering, startAgentCore, tempFolder } from '../support/agent-core/agent-core.ts';
import { INSTANT, KNOWS_CONTROL } from '../support/agent-core/control-client.ts';
import { randomFrom } from '../support/random.ts';
import {
  allReceipts,
  ControlRun,
  currentBranch,
  everything,
  injectOf,
  inTime,
  lastWrite,
  QueueModel,
  type SentControl,
} from '../support/soak/control-run.ts';

const ROUNDS = process.env['PILOTHOUSE_SOAK'] === 'full' ? 80 : 5;
const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
const MAX_ACTIONS = 18;
/** A kill comes at the latest this long after the last control was sent. */
const MAX_MS = 60;
/** The same while a control is on its way. */
const MAX_MS_OF_CONTROL = 4;

async function connect(home: string): Promise<AcpTestClient> {
  const client = answering(startAgentCore(home, { env: INSTANT }), 'allow_once');
  await client.initialize(KNOWS_CONTROL);
  return client;
}

/** One session under random controls, killed again and again. */
class Drive {
  readonly #random: () => number;
  readonly #home = tempFolder('home');
  readonly #folder = tempFolder('work');
  #client!: AcpTestClient;
  #run!: ControlRun;
  #sessionId = '';
  #turn: Promise<void> = Promise.resolve();
  #queue = new QueueModel();
  #messages: string[] = [];
  #words = 0;
  #killed: SentControl | null = null;
  /** What happened at least once. */
  readonly seen = {
    delivered: false,
    takenBack: false,
    held: false,
    sent: false,
    rolledBack: false,
    redone: false,
    file: false,
  };
  /** Words of prompts that a kill broke off. */
  readonly #cut = new Set<string>();

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  async begin(): Promise<void> {
    // What ran is written where no rollback takes it back.
    writeFileSync(join(this.#folder, '.gitignore'), 'ran.log\n');
    this.#client = await connect(this.#home);
    this.#sessionId = await this.#client.newSession(this.#folder);
    const sessionId = this.#sessionId;
    await this.#client.call('session/set_mode', { sessionId, modeId: 'code' });
    this.#run = new ControlRun(this.#client, sessionId);
  }

  /** Some controls against running turns, a kill, a restart, and what must hold then. */
  async round(): Promise<void> {
    this.#turn = this.#prompt();
    const count = 1 + Math.floor(this.#random() * MAX_ACTIONS);
    for (let action = 0; action < count; action += 1) await this.#act();
    // Sometimes the kill comes in the middle of the last control.
    const last = this.#random() < 0.5 ? this.#act() : null;
    await new Promise((resolve) =>
      setTimeout(resolve, this.#random() * (last === null ? MAX_MS : MAX_MS_OF_CONTROL)),
    );
    if (this.#client.pid === undefined) throw new Error('no process');
    process.kill(this.#client.pid, 'SIGKILL');
    await Promise.all([this.#client.exited, this.#turn, last]);
    this.#killed = this.#lastQueueChange();
    await this.restart();
  }

  async restart(): Promise<void> {
    this.#client = await connect(this.#home);
    this.#run.reconnected(this.#client);
    const open = { sessionId: this.#sessionId, cwd: this.#folder, mcpServers: [] };
    await this.#client.call('session/load', open);
  }

  /** Nothing is left that could be sent, and the session is as good as new. */
  async finish(): Promise<void> {
    const items = asked(await this.#held());
    const from = this.#client.updates.length;
    await this.#client.call('_pilothouse/queue/resume', { sessionId: this.#sessionId });
    if (items.length > 0)
      await this.#client.waitFor(
        () => this.#prompts(this.#client.updates.slice(from)).length >= items.length,
        'what was held',
      );
    expect(
      (await this.#client.prompt(this.#sessionId, 'finish with still here'))['stopReason'],
    ).toBe('end_turn');
    expect((await this.#held()).items).toEqual([]);
    this.#ranOnce('the end');
    await this.#client.close();
  }

  /** How many controls were answered in each way. */
  tally(): Record<SentControl['answer'], number> {
    const count = (answer: SentControl['answer']): number =>
      this.#run.sent.filter((one) => one.answer === answer).length;
    return { ok: count('ok'), refused: count('refused'), none: count('none') };
  }

  async check(round: string): Promise<void> {
    const sessionId = this.#sessionId;
    for (const stream of ['history', 'control'])
      expect(
        await this.#client.call('_pilothouse/history/verify', { sessionId, stream }),
        `${round}: the ${stream} chain`,
      ).toEqual({ ok: true });
    const receipts = await allReceipts(this.#client, sessionId);
    const ids = receipts.map(({ control_id }) => control_id);
    expect(new Set(ids).size, `${round}: control ids`).toBe(ids.length);
    for (const { actor, method, answer } of this.#run.sent) {
      const own = receipts.filter((receipt) => receipt.actor.clientId === actor);
      const what = `${round}: receipts of ${method} by ${actor} (${answer})`;
      if (answer === 'none') expect(own.length, what).toBeLessThanOrEqual(1);
      else expect(own, what).toHaveLength(1);
      const [receipt] = own;
      if (receipt === undefined) continue;
      expect(receipt.method, what).toBe(method);
      if (answer === 'ok') expect(receipt.status, what).not.toBe('rejected');
      if (answer === 'refused') expect(receipt.status, what).toBe('rejected');
    }
    await this.#checkMessages(round, receipts);
    await this.#checkQueue(round);
    await this.#checkFile(round);
    this.#ranOnce(round);
  }

  /** Files and conversation went back and forth together: the file is as the branch last left it. */
  async #checkFile(round: string): Promise<void> {
    const write = lastWrite(await currentBranch(this.#client, this.#sessionId));
    const file = join(this.#folder, 'file.txt');
    const now = existsSync(file) ? readFileSync(file, 'utf8') : null;
    // Of a call that was broken off nobody knows, and a turn that was killed has no checkpoint.
    if (write?.status === 'failed' || this.#cut.has(now ?? '')) return;
    expect(now, `${round}: the file`).toBe(write?.text ?? null);
    this.seen.file = true;
  }

  /** Every accepted message ended in exactly one way, or still waits. */
  async #checkMessages(
    round: string,
    receipts: Awaited<ReturnType<typeof allReceipts>>,
  ): Promise<void> {
    const updates = await everything(this.#client, this.#sessionId);
    const text = JSON.stringify(updates);
    const { injections } = (await this.#client.call('session/pending_injections', {
      sessionId: this.#sessionId,
    })) as { injections: { messageId?: string }[] };
    const held = await this.#held();
    const sent = updates.filter(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk');
    for (const { params, result } of this.#run.done('session/inject')) {
      const messageId = String(result['messageId']);
      const delivered = updates.filter((update) => injectOf(update) === messageId).length;
      const takenBack = receipts.filter(
        ({ method, outcome, target }) =>
          method === 'session/revoke_inject' &&
          target['messageId'] === messageId &&
          (outcome === 'revoked' || outcome === 'given_back'),
      ).length;
      this.seen.delivered ||= delivered > 0;
      this.seen.takenBack ||= takenBack > 0;
      const waits = injections.filter((pending) => pending.messageId === messageId).length;
      // A restart holds it for a person; sent from there it is a prompt like any other.
      const texts = this.#textsOf(messageId, String(params['content']));
      const isOf = (one: { content?: unknown }): boolean =>
        texts.some((text) => JSON.stringify(one.content ?? '').includes(text));
      const kept = held.items.filter(isOf).length;
      const prompted = sent.filter(
        (update) => injectOf(update) === undefined && isOf(update),
      ).length;
      const sum = delivered + takenBack + waits + kept + prompted;
      expect(
        { delivered, takenBack, waits, kept, prompted, sum },
        `${round}: message ${messageId} (${String(params['mode'])})`,
      ).toMatchObject({ sum: 1 });
      const word = /w\d+w/.exec(String(params['content']))?.[0] ?? '';
      if (delivered + prompted === 0)
        expect(text, `${round}: ${word} was not delivered`).not.toContain(word);
    }
  }

  /** What a message says, or said before it was replaced; a replacement that was not answered may count or not. */
  #textsOf(messageId: string, content: string): readonly string[] {
    const replaced = this.#run.sent
      .filter(
        ({ method, params }) =>
          method === 'session/replace_inject' && params['messageId'] === messageId,
      )
      .map(({ params }) => String(params['content']));
    return [content, ...replaced];
  }

  /** What is held is what was asked for, in that order, less what was sent; and nothing was sent twice. */
  async #checkQueue(round: string): Promise<void> {
    const held = await this.#held();
    const updates = await everything(this.#client, this.#sessionId);
    const prompts = this.#prompts(updates.map((update) => ({ update })));
    expect(new Set(prompts).size, `${round}: prompts are sent once`).toBe(prompts.length);
    const sent = new Set(prompts);
    this.seen.sent ||= sent.size > 0;
    this.seen.held ||= held.items.length > 0;
    const rest = (model: QueueModel): string[] =>
      model.items
        .filter(({ text }) => !sent.has(text))
        .map(({ itemId, text }) => `${itemId}: ${text}`);
    // What a restart held besides is looked at with the messages.
    const now = asked(held).map(({ itemId, text }) => `${itemId}: ${text}`);
    const possible = [this.#queue, this.#killed && this.#queue.with(this.#killed)]
      .filter((model) => model !== null)
      .map(rest);
    expect(possible, `${round}: the queue`).toContainEqual(now);
    // From here on it is known which of the two it was.
    if (this.#killed !== null && JSON.stringify(possible[0]) !== JSON.stringify(now))
      this.#queue = this.#queue.with(this.#killed);
    this.#killed = null;
  }

  #ranOnce(round: string): void {
    const log = join(this.#folder, 'ran.log');
    const ran = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    expect(new Set(ran).size, `${round}: nothing ran twice`).toBe(ran.length);
  }

  async #held(): Promise<NextTurnQueue> {
    return (await this.#client.call('_pilothouse/queue/list', {
      sessionId: this.#sessionId,
    })) as unknown as NextTurnQueue;
  }

  #prompts(entries: readonly { readonly update: unknown }[]): string[] {
    type Chunk = { sessionUpdate: string; content?: { text?: string } };
    return entries
      .map(({ update }) => update as Chunk)
      .filter(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')
      .map(({ content }) => content?.text ?? '')
      .filter((text) => text.includes('finish with q'));
  }

  /** A prompt of several steps; rejections are the kill's. */
  async #prompt(): Promise<void> {
    const word = this.#word();
    const text = [
      `run echo ${word}.a >> ran.log; sleep 0.05`,
      `write file.txt: ${word}`,
      `together: run echo ${word}.b >> ran.log ; run echo ${word}.c >> ran.log; sleep 0.05`,
      `run echo ${word}.d >> ran.log; sleep 0.05`,
      `finish with ${word}`,
    ].join('\n');
    await this.#client.prompt(this.#sessionId, text).catch(() => this.#cut.add(word));
  }

  async #act(): Promise<void> {
    const kind = this.#pick([
      ...['steer', 'steer', 'queue', 'interrupt_immediate'],
      ...['revoke', 'replace'],
      ...['add', 'add', 'edit', 'move', 'remove', 'pause', 'resume', 'send_now'],
      ...['cancel', 'prompt', 'settle', 'settle', 'rollback', 'rollback', 'redo', 'redo'],
      ...['fork', 'remind'],
    ]);
    if (kind === 'prompt') {
      this.#turn = this.#prompt();
      return;
    }
    if (kind === 'settle') {
      await inTime(this.#turn, 'the end of the turn');
      await this.#send('rollback');
      if (this.#random() < 0.5) await this.#send('redo');
      return;
    }
    const sent = this.#send(kind);
    // Some are not waited for, so that the next one overtakes their answer.
    if (kind in QUEUE_CHANGES || this.#random() < 0.6) await sent;
  }

  async #send(kind: string): Promise<void> {
    const word = this.#word();
    switch (kind) {
      case 'steer':
      case 'queue':
      case 'interrupt_immediate': {
        const content = `run echo ${word} >> ran.log`;
        const { answer, result } = await this.#run.send('session/inject', { mode: kind, content });
        if (answer === 'ok') this.#messages.push(String(result['messageId']));
        return;
      }
      case 'remind':
        await this.#run.send('session/remind', { body: `mind ${word}`, mode: 'finish_step' });
        return;
      case 'revoke':
      case 'replace': {
        const messageId = this.#pick(['nope', ...this.#messages.slice(-3)]);
        await this.#run.send(`session/${kind}_inject`, {
          messageId,
          ...(kind === 'replace' ? { content: `run echo ${word} >> ran.log` } : {}),
        });
        return;
      }
      case 'rollback':
      case 'redo': {
        const { answer } = await this.#run.send(`session/${kind}`, { overwrite: 'all' });
        if (answer === 'ok') this.seen[kind === 'redo' ? 'redone' : 'rolledBack'] = true;
        return;
      }
      case 'cancel':
      case 'fork':
        await this.#run.send(`session/${kind}`, {});
        return;
      default:
        await this.#changeQueue(kind, word);
    }
  }

  async #changeQueue(kind: string, word: string): Promise<void> {
    const held = this.#queue.items.map(({ itemId }) => itemId);
    const itemId = kind === 'add' ? `q-${word}` : this.#pick(['nope', ...held]);
    const before = this.#random() < 0.5 ? {} : { before: this.#pick(['nope', ...held]) };
    const content = `run echo ${word} >> ran.log\nfinish with q ${word}`;
    const params = {
      ...(kind === 'pause' || kind === 'resume' ? {} : { itemId }),
      ...(kind === 'add' || kind === 'edit' ? { content } : {}),
      ...(kind === 'add' || kind === 'move' ? before : {}),
    };
    const control = await this.#run.send(`_pilothouse/queue/${kind}`, params);
    if (control.answer === 'ok') this.#queue = this.#queue.with(control);
  }

  /** The change of the queue that was on its way when the process was killed. */
  #lastQueueChange(): SentControl | null {
    const last = this.#run.sent.findLast(({ method }) => method.startsWith('_pilothouse/queue/'));
    return last?.answer === 'none' ? last : null;
  }

  #word(): string {
    this.#words += 1;
    return `w${this.#words}w`;
  }

  #pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }
}

/** Items that a control put into the queue. */
function asked({ items }: NextTurnQueue): { itemId: string; text: string }[] {
  return items
    .map(({ itemId, content: [block] }) => ({
      itemId,
      text: block?.type === 'text' ? block.text : '',
    }))
    .filter(({ text }) => text.includes('finish with q'));
}

const QUEUE_CHANGES = { add: 1, edit: 1, move: 1, remove: 1, pause: 1, resume: 1, send_now: 1 };

describe(`controls of a running agent-core that is killed at random (seed ${SEED})`, () => {
  it(`have one receipt each, lose and repeat nothing, and keep the queue over ${ROUNDS} kills`, {
    timeout: 1_200_000,
  }, async () => {
    const drive = new Drive(SEED);
    await drive.begin();
    for (let round = 1; round <= ROUNDS; round += 1) {
      await drive.round();
      await drive.check(`round ${round}`);
    }
    await drive.finish();
    console.log(`controls: ${JSON.stringify(drive.tally())}; seen: ${JSON.stringify(drive.seen)}`);
    expect(drive.tally().ok).toBeGreaterThan(0);
    // In many rounds everything has happened at least once.
    if (ROUNDS >= 40) {
      expect(Object.values(drive.seen)).not.toContain(false);
      expect(Object.values(drive.tally())).not.toContain(0);
    }
  });
});
