import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseProviderConfigs } from '../../../../src/core/models/config/provider-config.ts';
import { withBuiltInProviders } from '../../../../src/core/models/config/resolve.ts';
import { createProviderSources } from '../../../../src/core/models/provider-source.ts';
import { SecretStore } from '../../../../src/core/models/secrets.ts';
import { LeapingClock } from './fakes.ts';

describe('a provider configuration', () => {
  it('is read with all its fields', () => {
    const config = {
      id: 'my-router',
      kind: 'openai-compatible',
      baseUrl: 'https://router.example/v1',
      name: 'My router',
      models: [
        {
          name: 'a/b',
          displayName: 'A B',
          contextTokens: 128_000,
          images: true,
          price: { inputPerMillion: 1, outputPerMillion: 2, cachedInputPerMillion: 0.1 },
        },
      ],
      headers: { 'X-Team': 'blue' },
      requiresKey: true,
    };
    expect(parseProviderConfigs([config])).toEqual({ providers: [config], problems: [] });
  });

  it.each([
    ['a missing kind', { id: 'a' }, 'providers[0].kind'],
    ['an unknown field', { id: 'a', kind: 'openai', apiKey: 'sk-secret' }, 'providers[0]:'],
    ['an id with a slash', { id: 'a/b', kind: 'openai' }, 'providers[0].id'],
    ['a reserved id', { id: 'rehearsal', kind: 'openai' }, 'providers[0].id'],
    ['no base URL', { id: 'a', kind: 'openai-compatible' }, 'providers[0].baseUrl'],
    ['a base URL that is none', { id: 'a', kind: 'openai', baseUrl: 'x' }, 'providers[0].baseUrl'],
    [
      'a base URL of a file',
      { id: 'a', kind: 'openai', baseUrl: 'file:///etc' },
      'providers[0].baseUrl',
    ],
    [
      'a base URL with a password',
      { id: 'a', kind: 'openai', baseUrl: 'https://u:sk-secret@example.com' },
      'providers[0].baseUrl',
    ],
    [
      'a negative price',
      {
        id: 'a',
        kind: 'openai',
        models: [{ name: 'm', price: { inputPerMillion: -1, outputPerMillion: 1 } }],
      },
      'providers[0].models[0].price.inputPerMillion',
    ],
    [
      'a header that would split the request',
      { id: 'a', kind: 'openai', headers: { 'X-A': 'sk-secret\r\nB: c' } },
      'providers[0].headers.X-A',
    ],
  ])('names %s by its path, and never its value', (_name, config, path) => {
    const { providers, problems } = parseProviderConfigs([config]);
    expect(providers).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(path)]);
    expect(problems.join()).not.toContain('sk-secret');
  });

  it('keeps what is right beside what is wrong', () => {
    const good = { id: 'a', kind: 'openai' };
    const parsed = parseProviderConfigs([{}, good, good, 7]);
    expect(parsed.providers).toEqual([good]);
    expect(parsed.problems).toContain('providers[2].id: is used twice');
    expect(parseProviderConfigs('x').problems).toEqual(['providers: must be a list']);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        parseProviderConfigs(input);
        parseProviderConfigs([input]);
      }),
    );
  });
});

describe('providers', () => {
  it('are the vendors, and local endpoints only when configured', () => {
    expect(withBuiltInProviders([]).map((one) => one.id)).toEqual([
      'openai',
      'anthropic',
      'google',
    ]);
    const { providers } = parseProviderConfigs([
      { id: 'ollama', kind: 'openai-compatible', models: [{ name: 'qwen3' }] },
      { id: 'lmstudio', kind: 'openai-compatible', baseUrl: 'http://10.0.0.2:1234/v1/' },
    ]);
    expect(withBuiltInProviders(providers).slice(3)).toMatchObject([
      { id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', requiresKey: false },
      { id: 'lmstudio', name: 'LM Studio', baseUrl: 'http://10.0.0.2:1234/v1' },
    ]);
  });

  it('can be replaced by a configuration of the same id', () => {
    const { providers } = parseProviderConfigs([
      { id: 'openai', kind: 'openai', models: [{ name: 'mine' }], name: 'Our OpenAI' },
    ]);
    const [openai, ...others] = withBuiltInProviders(providers);
    expect(openai).toMatchObject({ name: 'Our OpenAI', models: [{ name: 'mine' }] });
    expect(others).toHaveLength(2);
  });

  it('become available, and say so, when their key is set', async () => {
    const secrets = new SecretStore();
    const sources = createProviderSources([], { secrets, clock: new LeapingClock() });
    const anthropic = sources.find((source) => source.id === 'anthropic');
    let changes = 0;
    anthropic?.onDidChange?.(() => {
      changes += 1;
    });
    expect(await anthropic?.list()).toContainEqual(
      expect.objectContaining({
        id: 'anthropic/claude-opus-5',
        available: false,
        unavailableReason: 'Add a key for Anthropic, or set ANTHROPIC_API_KEY.',
      }),
    );
    secrets.set('openai', 'other');
    expect(changes).toBe(0);
    secrets.set('anthropic', 'key');
    expect(changes).toBe(1);
    expect((await anthropic?.list())?.every((info) => info.available)).toBe(true);
  });
});
