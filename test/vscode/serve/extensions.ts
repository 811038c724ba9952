import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';

const manifest = z.object({ name: z.string(), publisher: z.string(), version: z.string() });

const installedList = z.array(z.looseObject({ identifier: z.looseObject({ id: z.string() }) }));

/** VS Code reads the folder itself only once; from then on this file says what is installed. */
async function listInstalled(file: string): Promise<z.infer<typeof installedList> | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : installedList.parse(JSON.parse(text));
}

/**
 * Installs extensions into an extensions folder, as links: VS Code loads them as installed ones,
 * not in development mode (where it needs flags that also silence toasts).
 */
export async function linkExtensions(
  extensionsDir: string,
  sources: readonly string[],
): Promise<void> {
  await mkdir(extensionsDir, { recursive: true });
  const file = join(extensionsDir, 'extensions.json');
  let installed = await listInstalled(file);
  for (const source of sources) {
    const text = await readFile(join(source, 'package.json'), 'utf8');
    const { name, publisher, version } = manifest.parse(JSON.parse(text));
    const id = `${publisher}.${name}`.toLowerCase();
    const link = join(extensionsDir, `${id}-${version}`);
    await rm(link, { recursive: true, force: true });
    await symlink(source, link);
    installed = installed && [
      ...installed.filter((one) => one.identifier.id.toLowerCase() !== id),
      {
        identifier: { id },
        version,
        location: { $mid: 1, path: link, scheme: 'file' },
        relativeLocation: basename(link),
      },
    ];
  }
  if (installed) await writeFile(file, JSON.stringify(installed));
}
