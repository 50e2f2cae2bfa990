/**
 * Whether a page asks for a part of itself, or again and again whether there is news: without the answers to that it is whole.
 *
 * What it asks for together with others of that address is a list that it puts together, or what several of its scripts want. What it asks
 * for later is of the page as long as the page says something else than at the question before; the same words once more, or a few times
 * others, with a page that stays as it is, are questions for news. So are those of a page that never comes to rest.
 */
const atOnceMs = 1_000;
const idleMax = 10;
const turnsMax = 30;

interface Address {
  underWay: number;
  /** When the first of those that are under way was asked for. */
  sinceMs: number;
  readonly asked: Set<string>;
  /** How often it was asked again, and how often with a page that had stayed as it was. */
  turns: number;
  idle: number;
  print: string | undefined;
}

export interface Repeat {
  /** It is asked for again, later than the others of its address. */
  readonly isLater: boolean;
  readonly isNews: boolean;
  readonly end: () => void;
}

export class Repeats {
  readonly #addresses = new Map<string, Address>();

  /** The page asks for it, and says what `print` gives; `end` when it has been answered. */
  async begin({ origin, pathname, href }: URL, print: () => Promise<string | undefined>): Promise<Repeat> {
    const nowMs = performance.now();
    let address = this.#addresses.get(origin + pathname);
    const isLater = address !== undefined && !(address.underWay > 0 && nowMs - address.sinceMs < atOnceMs);
    address ??= { underWay: 0, sinceMs: nowMs, asked: new Set(), turns: 0, idle: 0, print: undefined };
    this.#addresses.set(origin + pathname, address);
    const isSame = address.asked.has(href);
    address.asked.add(href);
    if (address.underWay++ === 0) address.sinceMs = nowMs;
    const end = (): void => void address.underWay--;
    if (!isLater) return { isLater, isNews: false, end };
    const now = await print();
    // Of the first time nobody knows what the page said before.
    const isIdle = address.turns++ > 0 && now === address.print;
    address.print = now;
    if (isIdle) address.idle++;
    return { isLater, isNews: (isSame && isIdle) || address.idle > idleMax || address.turns > turnsMax, end };
  }
}
