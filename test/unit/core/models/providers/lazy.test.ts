import { expect, it, vi } from 'vitest';
import { ModelServer } from '../../../../support/model-server/model-server.ts';
import { collect, request, user } from '../fakes.ts';
import { modelOf } from './setup.ts';

const loaded = vi.hoisted((): string[] => []);

vi.mock('@ai-sdk/openai', async (original) => {
  loaded.push('openai');
  return await original();
});
vi.mock('@ai-sdk/openai-compatible', async (original) => {
  loaded.push('openai-compatible');
  return await original();
});

it("loads a provider's library when a model of its kind first streams, and no other", async () => {
  const server = await ModelServer.start();
  try {
    const model = await modelOf(server, 'openai-compatible');
    expect(loaded).toEqual([]);
    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'ok' }] });
    await collect(model, request([user('x')]));
    expect(loaded).toEqual(['openai-compatible']);
  } finally {
    await server.close();
  }
});
