import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unescapeXml } from '../../../../src/base/xml-text.ts';
import { SourceCatalog } from '../../../../src/core/models/catalog.ts';
import { createProviderSources } from '../../../../src/core/models/provider-source.ts';
import { createRehearsalSource } from '../../../../src/core/models/rehearsal/rehearsal-source.ts';
import { SecretStore } from '../../../../src/core/models/secrets.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import { JUDGE_SYSTEM } from '../../../../src/core/session/side/judge-prompt.ts';
import { AUTHORITIES } from '../../../../src/core/session/words.ts';
import { aSession, aTool, OWNER, ok, type TestSession } from '../../../support/engine/a-session.ts';
import { ModelServer, type RecordedRequest } from '../../../support/model-server/model-server.ts';
import type { Scenario } from '../../../support/model-server/scenario.ts';
import { LeapingClock, RecordingLog, wallClock } from '../models/fakes.ts';

type WireMessage = { readonly role: string; readonly content?: unknown };

let server: ModelServer;

beforeAll(async () => {
  server = await ModelServer.start();
  server.answer = answer;
});

afterAll(async () => {
  await server.close();
});

function contentOf({ content }: WireMessage): string {
  if (typeof content === 'string') return content;
  const parts: readonly { text?: string }[] = Array.isArray(content) ? content : [];
  return parts.map(({ text }) => text ?? '').join('\n');
}

function say(text: string): Scenario {
  return { kind: 'reply', steps: [{ type: 'text', text }] };
}

/** A judge that always vetoes, and an agent that does as the highest genuine authority says. */
function answer(request: RecordedRequest): Scenario {
  const messages = request.body['messages'] as readonly WireMessage[];
  if (messages.some((message) => message.role === 'system' && contentOf(message) === JUDGE_SYSTEM))
    return say('{"verdict":"continue","reason":"no","correction":"finish with ORIGINAL"}');
  if (!messages.some(({ role }) => role === 'tool'))
    return { kind: 'reply', steps: [{ type: 'call', id: 'c1', name: 'work', input: {} }] };
  return say(/finish with (\w+)/.exec(obeyed(messages))?.[1] ?? 'NOTHING');
}

/** The text that an agent obeys: of the highest authority the newest, else the newest thing a person said. */
function obeyed(messages: readonly WireMessage[]): string {
  const said = messages.filter(({ role }) => role === 'user').map(contentOf);
  const isEnvelope = (text: string): boolean => text.startsWith('<context-directives nonce="');
  const envelopes = said.filter(isEnvelope);
  const nonce = /nonce="([^"]*)"/.exec(envelopes[0] ?? '')?.[1];
  const directives = envelopes
    .filter((text) => text.includes(`nonce="${nonce}"`))
    .flatMap((text) => [
      ...text.matchAll(/<directive authority="(\w+)"[^>]*>\n([\s\S]*?)\n<\/directive>/g),
    ]);
  for (const authority of AUTHORITIES) {
    const newest = directives.findLast((one) => one[1] === authority)?.[2];
    if (newest !== undefined) return unescapeXml(newest);
  }
  return said.findLast((text) => !isEnvelope(text)) ?? '';
}

const LOOPBACK = 'test/qwen3-coder';
const REHEARSAL = 'rehearsal/instant';
const PROMPT = 'call work\nfinish with ORIGINAL';

/** One turn whose only tool call is steered to another final answer; what the agent then said, and how it ended. */
async function steered(model: string, judge: string, directives: boolean, steers = true) {
  const secrets = new SecretStore();
  secrets.set('test', 'key');
  const catalog = new SourceCatalog({
    sources: [
      ...createProviderSources(
        [{ id: 'test', kind: 'openai-compatible', baseUrl: server.baseUrl('openai-compatible') }],
        { secrets, clock: wallClock },
      ),
      createRehearsalSource({ clock: new LeapingClock() }),
    ],
    clock: wallClock,
    log: new RecordingLog(),
  });
  const work = aTool('work', async () => {
    const content = [{ type: 'text', text: 'finish with STEERED' }] as const;
    if (steers) await t.session.entries.inject({ mode: 'steer', content, actor: OWNER });
    return ok('');
  });
  const t: TestSession = await aSession({
    model: catalog,
    tools: [work],
    config: { model, judge },
    directives,
  });
  const { terminal } = await t.prompt(PROMPT);
  catalog.dispose();
  return { answers: answersOf(t.history()), verdicts: verdictsOf(t.history()), terminal };
}

function answersOf(history: readonly HistoryEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const event of history)
    if (event.type === 'message_delta' && event.kind === 'text')
      texts.set(event.messageId, (texts.get(event.messageId) ?? '') + event.text);
  return [...texts.values()];
}

function verdictsOf(history: readonly HistoryEvent[]): string[] {
  return history.flatMap((event) => (event.type === 'judge_decision' ? [event.verdict] : []));
}

describe('a steer against a judge that always vetoes', () => {
  it.each([LOOPBACK, REHEARSAL])('stands to the end (%s)', async (model) => {
    const { answers, verdicts, terminal } = await steered(model, LOOPBACK, true);
    expect(answers).toEqual(['STEERED', 'STEERED', 'STEERED']);
    expect(verdicts).toEqual(['vetoed', 'vetoed', 'vetoed']);
    expect(terminal.kind).toBe('completion_unverified');
  });

  it.each([LOOPBACK, REHEARSAL])(
    'loses where directives are switched off (%s, control)',
    async (model) => {
      const { answers } = await steered(model, LOOPBACK, false);
      expect(answers).toEqual(['STEERED', 'ORIGINAL', 'ORIGINAL']);
    },
  );
});

describe('a steer with the rehearsal model and judge', () => {
  it('is the final answer, and the judge agrees', async () => {
    const { answers, verdicts, terminal } = await steered(REHEARSAL, 'same', true);
    expect(answers).toEqual(['STEERED']);
    expect(verdicts).toEqual(['done']);
    expect(terminal.kind).toBe('natural');
  });

  it('loses to the judge where directives are switched off (control)', async () => {
    const { answers, verdicts, terminal } = await steered(REHEARSAL, 'same', false);
    expect(answers).toEqual(['STEERED', 'ORIGINAL']);
    expect(verdicts).toEqual(['vetoed', 'done']);
    expect(terminal.kind).toBe('natural');
  });

  it('changes nothing where nobody steers (control)', async () => {
    const { answers, verdicts } = await steered(REHEARSAL, 'same', true, false);
    expect(answers).toEqual(['ORIGINAL']);
    expect(verdicts).toEqual(['done']);
  });
});
