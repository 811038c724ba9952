import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Counts the questions of a session whose turn was left open when its process ended. Cheap: it looks at that turn alone. */
export class OpenGates {
  readonly #lastTurn: StatementSync;
  readonly #gates: StatementSync;

  constructor(database: DatabaseSync) {
    this.#lastTurn = database.prepare(
      `SELECT seq, type FROM records WHERE n = ? AND stream = 'history'
       AND type IN ('turn_started', 'turn_ended') ORDER BY seq DESC LIMIT 1`,
    );
    this.#gates = database.prepare(
      `SELECT count(*) FILTER (WHERE type = 'gate_opened') - count(*) FILTER (WHERE type = 'gate_resolved') AS open
       FROM records WHERE n = ? AND stream = 'history' AND seq > ?`,
    );
  }

  /** Nothing where its newest turn has ended. */
  of(n: number): { readonly openGates?: number } {
    const turn = this.#lastTurn.get(n);
    if (turn?.['type'] !== 'turn_started') return {};
    const open = Number(this.#gates.get(n, turn['seq'] ?? 0)?.['open'] ?? 0);
    return open > 0 ? { openGates: open } : {};
  }
}
