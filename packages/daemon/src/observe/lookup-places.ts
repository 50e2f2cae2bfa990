/**
 * Who may look up a name. The system's resolver keeps a thread for as long as a name server says nothing, tens of seconds, and cannot
 * be called off; there are few threads, so names that nobody answers for would keep all others from being looked up.
 *
 * A name that was answered for in time goes whenever a place is free, one that nobody has asked for yet only while a quarter of the
 * places stays free, one that failed or hung only while half of them does. Whoever waits is let in first come first served, of those
 * alike, and the better known before the others; a name that nobody has asked for and that somebody vouches for goes with the proven.
 */
import { TIMEOUT } from 'node:dns/promises';

export type NameStanding = 'proven' | 'new' | 'doubtful';

type Work<Found> = () => Promise<Found>;

const inOrder = ['proven', 'new', 'doubtful'] as const;
/** Of the places, so many may be taken by the time the last such name goes. */
const shareOf: Readonly<Record<NameStanding, number>> = { proven: 1, new: 3 / 4, doubtful: 1 / 2 };
/** In one line; behind so many that hang nobody has a turn within hours. About 500 bytes each. */
const lineMax = 10_000;

export class LookupPlaces {
  readonly #placesMax: number;
  #taken = 0;
  // By their work and in their order, as lines of thousands are left at their beginning and in the middle.
  readonly #lines: Readonly<Record<NameStanding, Map<Work<unknown>, () => void>>> = {
    proven: new Map(),
    new: new Map(),
    doubtful: new Map(),
  };

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Begins at once where there is room; the place is left when the work has ended. */
  run<Found>(standing: NameStanding, work: Work<Found>): Promise<Found> {
    if (this.#lines[standing].size >= lineMax) return Promise.reject(lineFull());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#taken--;
        this.#letIn();
      };
      this.#lines[standing].set(work, () => void work().finally(leave).then(resolve, reject));
      this.#letIn();
    });
  }

  /** The name that this looks up is known to be answered for. */
  vouch(work: Work<unknown>): void {
    const go = this.#lines.new.get(work);
    if (!go) return;
    this.#lines.new.delete(work);
    this.#lines.proven.set(work, go);
    this.#letIn();
  }

  #letIn(): void {
    for (const standing of inOrder) {
      // With a place or two, whoever is not proven has one.
      const room = Math.max(1, Math.floor(shareOf[standing] * this.#placesMax));
      for (const [work, go] of this.#lines[standing]) {
        if (this.#taken >= room) break;
        this.#lines[standing].delete(work);
        this.#taken++;
        go();
      }
    }
  }
}

const lineFull = (): Error => Object.assign(new Error('too many names wait to be looked up'), { code: TIMEOUT });
