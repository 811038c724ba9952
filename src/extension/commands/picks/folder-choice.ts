/** A root folder of the window. */
export type Root = { readonly name: string; readonly path: string };

/** Where a new session may work. */
export type FolderChoice =
  | { readonly kind: 'no_folder' }
  | { readonly kind: 'one'; readonly root: Root }
  /** Several roots: a person picks, the active editor's root being offered first. */
  | { readonly kind: 'pick'; readonly roots: readonly Root[]; readonly suggested: Root | null };

/** The folders that a new session can get. It is never silently the first of several. */
export function folderChoice(roots: readonly Root[], activeRoot: string | null): FolderChoice {
  const [first, ...others] = roots;
  if (!first) return { kind: 'no_folder' };
  if (others.length === 0) return { kind: 'one', root: first };
  const suggested = roots.find((root) => root.path === activeRoot) ?? null;
  const rest = roots.filter((root) => root !== suggested);
  return { kind: 'pick', roots: suggested ? [suggested, ...rest] : roots, suggested };
}
