import type { Log } from '../../session/ports.ts';
import type { Tool } from '../../session/tool.ts';
import { createTools } from '../../tools/create-tools.ts';
import { createPolicy, type RememberingPolicy } from '../../tools/policy/create-policy.ts';
import { createPolicyStore } from '../../tools/policy/policy-store.ts';
import { createProtectedPaths } from '../../tools/protected-paths.ts';
import type { Launcher } from '../../tools/run/launcher.ts';
import { probeSandbox, type Sandbox } from '../../tools/run/sandbox.ts';

/** What the tool rooms are made of. */
export type ToolRoomParts = {
  readonly dataFolder: string;
  readonly home: string;
  /** What the tools' own helpers get (ripgrep), and where they are looked for. */
  readonly environment: NodeJS.ProcessEnv;
  readonly sandboxed: boolean;
  readonly launcher: Launcher;
  readonly log: Log;
};

/** The built-in tools, what decides about them, and what their commands run in. */
export type ToolRooms = {
  readonly tools: readonly Tool[];
  readonly policy: RememberingPolicy;
  readonly sandbox: Sandbox;
};

/** Opens everything that only a turn needs. This module is loaded apart from the start. */
export async function openToolRooms(parts: ToolRoomParts): Promise<ToolRooms> {
  const { dataFolder, home, environment, launcher, log } = parts;
  const protectedPaths = createProtectedPaths({ dataFolder, home });
  return {
    tools: createTools({ home, protectedPaths, launcher, environment }),
    policy: createPolicy({ store: createPolicyStore({ dataFolder, log }), protectedPaths, home }),
    sandbox: await probeSandbox({
      enabled: parts.sandboxed,
      environment,
      home,
      masked: [dataFolder],
    }),
  };
}
