import type { Workspace } from '../../session/tool.ts';
import type { PathRules } from '../files/resolve-path.ts';
import type { ProtectedPaths } from '../protected-paths.ts';

/** What the look at a call needs to know of the machine. */
export type Surroundings = {
  readonly workspace: Workspace;
  readonly home: string;
  readonly temporary: readonly string[];
  readonly links: PathRules['links'];
  readonly protectedPaths: ProtectedPaths;
  /** True if commands are run by a POSIX shell; others can't be taken apart. */
  readonly posixShell: boolean;
};
