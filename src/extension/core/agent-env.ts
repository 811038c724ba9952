/** What VS Code sets for itself and its terminals must not reach: it would change how programs started there run. */
const FOREIGN = [
  /^ELECTRON_/,
  /^VSCODE_(?!(?:PORTABLE|SHELL_LOGIN|ENV_REPLACE|ENV_APPEND|ENV_PREPEND)$)/,
  /^SNAP(?:|_.*)$/,
  /^GDK_PIXBUF_/,
  /^NODE_OPTIONS$/,
];

/** Keys that agent-core would ask its client for: the window that starts it owns it. */
const ACCESS_KEYS = ['PILOTHOUSE_API_KEY', 'PILOTHOUSE_OBSERVER_KEY'];

const CONNECT_TOKEN = 'PILOTHOUSE_CONNECT_TOKEN';

/** How agent-core's environment is made. */
export type AgentEnvInput = {
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly extra: Readonly<Record<string, string>>;
  /** Empty: the system's data folder. */
  readonly dataFolder: string;
  /** The token for a remote host; null for none. agent-core takes it out of its environment at once. */
  readonly connectToken?: string | null;
  /** True if the program is the editor's own, which is Electron outside a server. */
  readonly isEditor: boolean;
};

/**
 * The environment of agent-core: the editor's without what is its own, plus the person's. `ELECTRON_RUN_AS_NODE` makes
 * the editor's program run as Node and is harmless elsewhere.
 */
export function agentEnv(input: AgentEnvInput): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(input.inherited))
    if (value !== undefined && !FOREIGN.some((pattern) => pattern.test(name))) env[name] = value;
  Object.assign(env, input.extra);
  for (const name of ACCESS_KEYS) delete env[name];
  delete env[CONNECT_TOKEN];
  if (input.connectToken) env[CONNECT_TOKEN] = input.connectToken;
  if (input.dataFolder !== '') env['PILOTHOUSE_HOME'] = input.dataFolder;
  if (input.isEditor) env['ELECTRON_RUN_AS_NODE'] = '1';
  return env;
}
