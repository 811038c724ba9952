/** B-tree page types and header sizes. Source: https://sqlite.org/fileformat2.html#b_tree_pages */
const HEADER_BYTES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const FILE_HEADER_BYTES = 100;

/** A part of a page. */
type Part = { readonly start: number; readonly end: number };

/**
 * Overwrites the space of a b-tree page between its cell pointers and its cells. Returns that part if anything was
 * in it, null if not or if the page is of another kind.
 *
 * Other pages that hold content begin with the number of a page (overflow, free list), so their first byte is 0 in
 * any file below 64 GiB, and a free page holds nothing that matters: the first byte tells b-tree pages apart.
 */
export function zeroUnused(page: Buffer, isFirst: boolean): Part | null {
  const header = isFirst ? FILE_HEADER_BYTES : 0;
  const headerBytes = HEADER_BYTES[page[header] ?? 0];
  if (headerBytes === undefined) return null;
  const cells = page.readUInt16BE(header + 3);
  // 0 stands for 65536, which a page of that size means by its own length.
  const end = page.readUInt16BE(header + 5) || 65_536;
  const start = header + headerBytes + 2 * cells;
  if (start >= end || end > page.length) return null;
  const unused = page.subarray(start, end);
  if (isZero(unused)) return null;
  unused.fill(0);
  return { start, end };
}

const ZEROES = Buffer.alloc(65_536);

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROES.subarray(0, bytes.length));
}
