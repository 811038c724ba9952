import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ThoughtLevel } from '../../../../../src/core/session/words.ts';
import { ModelServer, type WireKind } from '../../../../support/model-server/model-server.ts';
import { collect, request, user } from '../fakes.ts';
import { modelOf } from './setup.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.close());

const CASES: readonly (readonly [WireKind, string, ThoughtLevel, object])[] = [
  ['openai-compatible', 'm', 'high', { reasoning_effort: 'high' }],
  ['openai-compatible', 'm', 'auto', { reasoning_effort: undefined }],
  ['openai-compatible', 'm', 'off', { reasoning_effort: undefined }],
  ['openai', 'gpt-5.5', 'low', { reasoning: { effort: 'low', summary: 'auto' }, store: false }],
  ['openai', 'gpt-5.5', 'off', { reasoning: { effort: 'none' } }],
  ['openai', 'gpt-5', 'off', { reasoning: { effort: 'minimal' } }],
  ['openai', 'o3', 'off', { reasoning: { effort: 'low' } }],
  ['openai', 'gpt-5.5', 'auto', { reasoning: undefined, include: ['reasoning.encrypted_content'] }],
  [
    'anthropic',
    'claude-opus-5',
    'high',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ],
  ['anthropic', 'claude-sonnet-4-6', 'auto', { thinking: { type: 'adaptive' } }],
  ['anthropic', 'claude-opus-4-6', 'off', { thinking: { type: 'disabled' } }],
  [
    'anthropic',
    'claude-haiku-4-5',
    'medium',
    { thinking: { type: 'enabled', budget_tokens: 12_288 } },
  ],
  ['anthropic', 'claude-haiku-4-5', 'auto', { thinking: undefined }],
  ['anthropic', 'other-model', 'high', { thinking: undefined, max_tokens: 16_384 }],
  [
    'google',
    'gemini-2.5-flash',
    'off',
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  ],
  [
    'google',
    'gemini-2.5-pro',
    'off',
    { generationConfig: { thinkingConfig: { thinkingBudget: 128 } } },
  ],
  [
    'google',
    'gemini-2.5-pro',
    'low',
    {
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } },
    },
  ],
  [
    'google',
    'gemini-3.5-flash',
    'high',
    {
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } },
    },
  ],
  ['google', 'gemma-3-27b-it', 'high', { generationConfig: {} }],
];

it.each(CASES)(
  '%s %s thinks at level %s as the provider wants it',
  async (kind, name, level, sent) => {
    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'ok' }] });
    const model = await modelOf(server, kind, { model: name });
    await collect(model, request([user('x')], { thoughtLevel: level }));
    const body = server.requests.at(-1)?.body ?? {};
    const named = Object.keys(sent).map((field) => [field, body[field]]);
    expect(Object.fromEntries(named)).toMatchObject(sent);
  },
);
