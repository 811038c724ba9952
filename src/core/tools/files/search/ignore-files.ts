import { readFile } from 'node:fs/promises';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Later ones override earlier ones, as in ripgrep. */
const NAMES = ['.gitignore', '.ignore', '.rgignore'];

type Level = { readonly folder: string; readonly rules: Ignore };

/** The ignore files that apply in a folder: its own and those of all folders above. Immutable. */
export class IgnoreFiles {
  readonly #levels: readonly Level[];

  private constructor(levels: readonly Level[]) {
    this.#levels = levels;
  }

  /** The ignore files of all folders above `folder`, without its own. */
  static async above(folder: string): Promise<IgnoreFiles> {
    const above: string[] = [];
    for (let at = path.dirname(folder); ; at = path.dirname(at)) {
      above.unshift(at);
      if (at === path.dirname(at)) break;
    }
    let files = new IgnoreFiles([]);
    for (const each of above) files = await files.within(each);
    return files;
  }

  /** Adds the ignore files that lie in `folder`. */
  async within(folder: string): Promise<IgnoreFiles> {
    const rules = ignore({ allowRelativePaths: true });
    let found = false;
    for (const name of NAMES) {
      const text = await readIfThere(path.join(folder, name));
      if (text === null) continue;
      rules.add(text);
      found = true;
    }
    return found ? new IgnoreFiles([{ folder, rules }, ...this.#levels]) : this;
  }

  /** True if the entry is ignored; the deepest file that says anything about it decides. */
  ignores(file: string, isFolder: boolean): boolean {
    for (const { folder, rules } of this.#levels) {
      const relative = path.relative(folder, file).split(path.sep).join('/');
      if (relative === '' || relative.startsWith('../')) continue;
      const verdict = rules.test(isFolder ? `${relative}/` : relative);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
    return false;
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP'].includes(String(code))) return null;
    throw error;
  }
}
