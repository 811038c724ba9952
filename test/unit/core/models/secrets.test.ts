import { describe, expect, it } from 'vitest';
import {
  environmentSecrets,
  firstSecret,
  keyVariables,
  SecretStore,
} from '../../../../src/core/models/secrets.ts';

describe('keys', () => {
  it('come from the variables of the vendor and from our own, ours first', () => {
    const secrets = environmentSecrets({
      OPENAI_API_KEY: 'o',
      ANTHROPIC_API_KEY: ' a ',
      PILOTHOUSE_KEY_ANTHROPIC: 'own',
      GEMINI_API_KEY: 'g',
      GOOGLE_GENERATIVE_AI_API_KEY: ' ',
      PILOTHOUSE_KEY_MY_ROUTER_2: 'r',
    });
    expect(
      ['openai', 'anthropic', 'google', 'my-router.2', 'constructor'].map((id) => secrets.get(id)),
    ).toEqual(['o', 'own', 'g', 'r', undefined]);
    expect(keyVariables('google')).toEqual([
      'PILOTHOUSE_KEY_GOOGLE',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'GEMINI_API_KEY',
    ]);
  });

  it('handed over by a client win, and go away when deleted', () => {
    const store = new SecretStore();
    const secrets = firstSecret(store, environmentSecrets({ OPENAI_API_KEY: 'env' }));
    const changes: string[] = [];
    const subscription = secrets.onDidChange((source) => changes.push(source));
    store.set('openai', ' pipe\n');
    expect(secrets.get('openai')).toBe('pipe');
    store.set('openai', '  ');
    expect(secrets.get('openai')).toBe('env');
    store.delete('openai');
    expect(changes).toEqual(['openai', 'openai']);
    subscription.dispose();
    store.set('openai', 'again');
    expect(changes).toHaveLength(2);
    store.dispose();
    expect(store.get('openai')).toBeUndefined();
  });

  it('do not show when the store is printed', () => {
    const store = new SecretStore();
    store.set('openai', 'sk-hidden');
    expect(JSON.stringify({ store })).not.toContain('sk-hidden');
  });
});
