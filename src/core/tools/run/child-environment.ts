/** What VS Code takes out for its own terminals, and what belongs to this program. Source: VS Code, terminal environment. */
const DROPPED: readonly RegExp[] = [
  /^ELECTRON_/i,
  /^VSCODE_(?!(PORTABLE|SHELL_LOGIN|ENV_REPLACE|ENV_APPEND|ENV_PREPEND)$)/i,
  /^SNAP(_.*)?$/i,
  /^GDK_PIXBUF_/i,
  /^(PILOTHOUSE|HARN_SERVE)_/i,
  /^NODE_(OPTIONS|CHANNEL_FD|CHANNEL_SERIALIZATION_MODE)$/i,
  /^(LD_PRELOAD|DYLD_INSERT_LIBRARIES|BASH_ENV)$/i,
];

/** Keys of model providers: they belong to the host, not to what the model runs. */
export const PROVIDER_KEYS: readonly RegExp[] = [
  /^(OPENAI|ANTHROPIC|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|GOOGLE_AI|AZURE_OPENAI|AZURE|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI|COHERE|CO|TOGETHER|TOGETHER_AI|FIREWORKS|PERPLEXITY|CEREBRAS|MOONSHOT|DASHSCOPE|ZAI|ZHIPU|OLLAMA|LITELLM|AI_GATEWAY|HUGGINGFACE|REPLICATE|VOYAGE|NVIDIA)_API_(KEY|TOKEN)$/i,
  /^(ANTHROPIC|OPENAI)_(AUTH_TOKEN|ADMIN_KEY|ORG_ID|ORGANIZATION)$/i,
  /^(HF_TOKEN|HUGGING_FACE_HUB_TOKEN|CLAUDE_CODE_OAUTH_TOKEN|GITHUB_COPILOT_TOKEN|COPILOT_TOKEN)$/i,
];

/** Keeps programs from paging, from asking at a terminal that is not there, and from colouring. */
const ADDED = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' } as const;

/**
 * The environment for a child of a tool: `base` without what belongs to the editor, to this program and to the
 * providers' accounts. `secrets` are further names to leave out.
 */
export function childEnvironment(
  base: NodeJS.ProcessEnv,
  secrets: readonly RegExp[] = PROVIDER_KEYS,
): NodeJS.ProcessEnv {
  const patterns = [...DROPPED, ...secrets];
  const kept = Object.entries(base).filter(
    ([name, value]) => value !== undefined && !patterns.some((pattern) => pattern.test(name)),
  );
  return { ...Object.fromEntries(kept), ...ADDED };
}
