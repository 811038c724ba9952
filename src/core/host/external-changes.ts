import { canonicalJson } from '../../base/canonical-json.ts';
import type { Session } from '../session/session.ts';
import { HOST } from '../session/state/gates.ts';
import type { ExternalSource, ExternalTools } from './session-resources.ts';

/** The longest name of a source in a record, in characters. */
const MAX_NAME = 64;

/** What is recorded of the external tools of a session. */
export type ExternalChangesParts = {
  readonly external: Pick<ExternalTools, 'sources'>;
  readonly session: { readonly entries: Pick<Session['entries'], 'replaceTools'> };
  /** SHA-256 of UTF-8 text. */
  readonly digest: (text: string) => string;
};

/**
 * Records which external tools a session has: a source whose tools are others than before, one that lost them, one that
 * is gone. The tools themselves change between turns whether or not it is recorded.
 */
export class ExternalChanges {
  readonly #parts: ExternalChangesParts;
  /** The generation that was recorded last, by source; a source without tools has none. */
  readonly #recorded = new Map<string, string>();

  constructor(parts: ExternalChangesParts) {
    this.#parts = parts;
  }

  /** Something may have changed. Rejects when it could not be recorded. */
  async changed(): Promise<void> {
    const sources = this.#parts.external.sources();
    const gone = [...this.#recorded.keys()]
      .filter((name) => !sources.some((source) => source.name === name))
      .map((name): ExternalSource => ({ name, isPending: false, tools: [] }));
    await Promise.all([...sources, ...gone].map((source) => this.#record(source)));
  }

  async #record({ name, isPending, tools }: ExternalSource): Promise<void> {
    if (isPending) return;
    const { digest, session } = this.#parts;
    const described = tools.map((tool) => ({
      name: tool.name,
      schema_digest: digest(canonicalJson(tool.inputSchema)),
    }));
    const generation = digest(canonicalJson(described));
    const before = this.#recorded.get(name);
    if (before === generation || (before === undefined && tools.length === 0)) return;
    if (tools.length === 0) this.#recorded.delete(name);
    else this.#recorded.set(name, generation);
    await session.entries.replaceTools(
      { source: shortened(name, digest), generation, tools: described },
      { actor: HOST, agency: 'machine' },
    );
  }
}

/** Two long names that begin alike stay two. */
function shortened(name: string, digest: (text: string) => string): string {
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, MAX_NAME - 9).toWellFormed()}_${digest(name).slice(0, 8)}`;
}
