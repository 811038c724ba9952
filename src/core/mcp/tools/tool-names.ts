import { createHash } from 'node:crypto';

/** The strictest limit of the providers: `[a-zA-Z0-9_-]{1,64}`. */
const MAX_LENGTH = 64;
const DIGEST_LENGTH = 8;

/** A tool by the names its server and its configuration use. */
export type RawToolName = { readonly server: string; readonly tool: string };

/**
 * Names for tools of MCP servers that every provider takes: `mcp__<server>__<tool>`, in the order given. What a
 * provider would refuse is replaced; a name that is too long, or that two tools would share, ends in a digest of the
 * original names, so that the same tools have the same names every time.
 */
export function modelToolNames(tools: readonly RawToolName[]): readonly string[] {
  const plain = tools.map(plainName);
  const sharers = new Map<string, number>();
  for (const name of plain) sharers.set(name, (sharers.get(name) ?? 0) + 1);
  const taken = new Set<string>();
  return tools.map((tool, index) => {
    const name = plain[index] ?? '';
    const isAlone = sharers.get(name) === 1 && name.length <= MAX_LENGTH;
    const unique = firstFree(isAlone ? name : withDigest(name, tool), taken);
    taken.add(unique);
    return unique;
  });
}

function plainName({ server, tool }: RawToolName): string {
  return `mcp__${replaced(server)}__${replaced(tool)}`;
}

function replaced(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/gu, '_') || '_';
}

function withDigest(name: string, { server, tool }: RawToolName): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex');
  return shortened(name, `_${digest.slice(0, DIGEST_LENGTH)}`);
}

/** Two servers of one name with a tool of one name: nothing but their order tells them apart. */
function firstFree(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = shortened(name, `_${count}`);
  return free;
}

function shortened(name: string, ending: string): string {
  return name.slice(0, MAX_LENGTH - ending.length) + ending;
}
