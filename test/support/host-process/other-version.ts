import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AGENT_CORE, tempFolder } from '../agent-core/agent-core.ts';

/** A copy of the built process that is of another version, and nothing else is different. Gives its program. */
export function builtAs(version: string): string {
  const folder = tempFolder('build');
  const built = dirname(AGENT_CORE);
  for (const name of readdirSync(built))
    if (name !== 'media' && !name.endsWith('.map'))
      cpSync(join(built, name), join(folder, name), { recursive: true });
  const chunks = join(folder, 'agent-core');
  let changed = 0;
  for (const name of readdirSync(chunks)) {
    if (!name.endsWith('.mjs')) continue;
    const file = join(chunks, name);
    const text = readFileSync(file, 'utf8');
    const other = text.replace(/(package_default = \{ version: )"[^"]+"/, `$1"${version}"`);
    if (other === text) continue;
    writeFileSync(file, other);
    changed += 1;
  }
  if (changed !== 1) throw new Error(`The version is in ${changed} files`);
  return join(folder, 'agent-core.mjs');
}
