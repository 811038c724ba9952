const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Letting go more than needed at once keeps the work per piece small. */
const KEEP_CHARACTERS = 3 * 1024 * 1024;

/** The live output of one call; past 4 Mi characters its beginning is let go. */
export class OutputLog {
  #pieces: string[] = [];
  #size = 0;

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size <= MAX_CHARACTERS) return;
    let dropped = 0;
    while (this.#size > KEEP_CHARACTERS && dropped < this.#pieces.length - 1) {
      this.#size -= this.#pieces[dropped]?.length ?? 0;
      dropped += 1;
    }
    this.#pieces = this.#pieces.slice(dropped);
  }

  text(): string {
    return this.#pieces.join('');
  }
}
