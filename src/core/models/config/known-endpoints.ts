/** OpenAI-compatible endpoints that need no base URL in a configuration. */
export const KNOWN_ENDPOINTS: Readonly<
  Record<string, { readonly name: string; readonly baseUrl: string; readonly requiresKey: boolean }>
> = {
  ollama: { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', requiresKey: false },
  lmstudio: { name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', requiresKey: false },
  vllm: { name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', requiresKey: false },
  openrouter: { name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', requiresKey: true },
};
