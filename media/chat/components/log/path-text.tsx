import type { JSX } from 'preact';

/** A path: the name first to be seen, its folder quiet behind it, the whole as tooltip. */
export function PathText({
  path,
  line,
}: {
  readonly path: string;
  readonly line?: number | undefined;
}): JSX.Element {
  const clean = path.replace(/[/\\]+$/, '');
  const cut = Math.max(clean.lastIndexOf('/'), clean.lastIndexOf('\\'));
  const folder = cut > 0 ? clean.slice(0, cut) : '';
  return (
    <span class="path" title={path} dir="ltr">
      <span class="path-name">
        {clean.slice(cut + 1) || path}
        {line === undefined ? '' : `:${line}`}
      </span>
      {folder !== '' && <span class="path-folder">{folder}</span>}
    </span>
  );
}
