/** However often the same message comes, it is worked on once: answers are remembered by its id, as many as fit. */
const answersMax = 1_000;
const bytesMax = 16 * 2 ** 20;

/** Of an answer, as they fit messages. */
export type Pieces = readonly Uint8Array[];

export class Once {
  readonly #answers = new Map<string, Pieces>();
  readonly #underWay = new Map<string, Promise<Pieces | undefined>>();
  readonly #broughtHome = new Set<string>();
  #bytes = 0;

  /** The answer there is or will be, else that of `work`; undefined where nothing is to be said. */
  async answer(id: string, work: () => Promise<Pieces | undefined>): Promise<Pieces | undefined> {
    const before = this.#answers.get(id) ?? this.#underWay.get(id);
    if (before) return before;
    const working = work();
    this.#underWay.set(id, working);
    try {
      const pieces = await working;
      if (pieces) this.#remember(id, pieces);
      return pieces;
    } finally {
      this.#underWay.delete(id);
    }
  }

  /** While the answer is brought home it is under way, too. */
  async bring(id: string, bringing: Promise<boolean>): Promise<boolean> {
    this.#broughtHome.add(id);
    try {
      return await bringing;
    } finally {
      this.#broughtHome.delete(id);
    }
  }

  isUnderWay(id: string): boolean {
    return this.#underWay.has(id) || this.#broughtHome.has(id);
  }

  #remember(id: string, pieces: Pieces): void {
    this.#answers.set(id, pieces);
    this.#bytes += bytesOf(pieces);
    for (const [old, oldPieces] of this.#answers) {
      if (this.#answers.size <= answersMax && this.#bytes <= bytesMax) break;
      this.#answers.delete(old);
      this.#bytes -= bytesOf(oldPieces);
    }
  }
}

function bytesOf(pieces: Pieces): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
