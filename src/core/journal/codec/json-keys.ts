import { visit } from 'jsonc-parser';

/** Deeper than this no stored value is nested; the canonical form has the same limit. */
const MAX_DEPTH = 500;

/** What a JSON text says that `JSON.parse` does not tell. */
export type KeyProblem =
  | { readonly kind: 'duplicate'; readonly path: string }
  | { readonly kind: 'too_deep' };

class Found extends Error {
  readonly problem: KeyProblem;

  constructor(problem: KeyProblem) {
    super();
    this.problem = problem;
  }
}

/** Finds a key that is twice in one object, at any depth and however it is escaped; null if there is none. */
export function keyProblemIn(json: string): KeyProblem | null {
  const open: Set<string>[] = [];
  let depth = 0;
  const enter = (): void => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new Found({ kind: 'too_deep' });
  };
  const leave = (): void => {
    depth -= 1;
  };
  try {
    visit(json, {
      onObjectBegin: () => {
        enter();
        open.push(new Set());
      },
      onObjectProperty: (key, ...[, , , , pathOf]) => {
        const keys = open.at(-1);
        if (keys?.has(key)) {
          throw new Found({ kind: 'duplicate', path: [...pathOf(), key].join('.') });
        }
        keys?.add(key);
      },
      onObjectEnd: () => {
        open.pop();
        leave();
      },
      onArrayBegin: enter,
      onArrayEnd: leave,
    });
    return null;
  } catch (error) {
    if (error instanceof Found) return error.problem;
    throw error;
  }
}
