/**
 * Who may be asked now. Each site has a gate that lets one request through at a time and then stays shut for its spacing;
 * pages whose gate is shut wait in line, first come first served. Times are in any one unit.
 *
 * Invariant: two requests to one site start at least `spacing` apart and never overlap; a site held until a given time
 * (Retry-After, back-off) gets none before it.
 */
import { DueQueue } from '../time/due-queue.ts';

interface Gate {
  opensAt: number;
  spacing: number;
  busy: number;
  /** How many requests may be under way at once. */
  breadth: number;
  readonly line: number[];
  /** Shut by `holdUntil`, not by its spacing: whoever waits here waits for long. */
  held: boolean;
}

/** How many of one site's line count as the crowd: enough to never leave its gate idle. */
const crowdPerSite = 2;

export class Gates {
  readonly #gates = new Map<number, Gate>();
  /** When each gate opens, of those with someone in line and room for a request. */
  readonly #opening = new DueQueue();
  #waiting = 0;
  #crowd = 0;

  #gate(site: number): Gate {
    let gate = this.#gates.get(site);
    if (!gate) {
      gate = { opensAt: -Infinity, spacing: 0, busy: 0, breadth: 1, line: [], held: false };
      this.#gates.set(site, gate);
    }
    return gate;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * How many wait who may soon pass: a few of each line, none of sites that are held. Whoever fills the lines up to a limit
   * uses this number, or one slow or closed site with many pages would keep all others out.
   */
  get crowd(): number {
    return this.#crowd;
  }

  /** Changes a gate's line or its being held, and keeps the count of the crowd right. */
  #change(gate: Gate, change: () => void): void {
    this.#crowd -= gate.held ? 0 : Math.min(crowdPerSite, gate.line.length);
    change();
    this.#crowd += gate.held ? 0 : Math.min(crowdPerSite, gate.line.length);
  }

  setSpacing(site: number, spacing: number, breadth = 1): void {
    const gate = this.#gate(site);
    gate.spacing = spacing;
    gate.breadth = breadth;
  }

  /** No request to the site before this time. */
  holdUntil(site: number, at: number): void {
    const gate = this.#gate(site);
    if (at <= gate.opensAt) return;
    this.#change(gate, () => {
      gate.opensAt = at;
      gate.held = true;
    });
    this.#queue(site, gate);
  }

  /** Whether a page of the site that came now would pass at once. */
  free(site: number, now: number): boolean {
    const gate = this.#gates.get(site);
    return !gate || (gate.line.length === 0 && gate.busy < gate.breadth && gate.opensAt <= now);
  }

  /** Whether a request could go out now, whoever waits. */
  open(site: number, now: number): boolean {
    const gate = this.#gates.get(site);
    return !gate || (gate.busy < gate.breadth && gate.opensAt <= now);
  }

  opensAt(site: number): number {
    return this.#gates.get(site)?.opensAt ?? -Infinity;
  }

  /** The page waits in its site's line. */
  wait(site: number, page: number): void {
    const gate = this.#gate(site);
    this.#change(gate, () => gate.line.push(page));
    this.#waiting++;
    this.#queue(site, gate);
  }

  /** The page waits at the head of its site's line. */
  waitFirst(site: number, page: number): void {
    const gate = this.#gate(site);
    this.#change(gate, () => gate.line.unshift(page));
    this.#waiting++;
    this.#queue(site, gate);
  }

  /** Takes a page out of its line, wherever it stands. */
  leave(site: number, page: number): boolean {
    const gate = this.#gate(site);
    const place = gate.line.indexOf(page);
    if (place < 0) return false;
    this.#change(gate, () => gate.line.splice(place, 1));
    this.#waiting--;
    this.#queue(site, gate);
    return true;
  }

  /** The first page whose gate is open now, with the gate shut behind it; undefined when nobody may pass. */
  pass(now: number): { readonly page: number; readonly site: number } | undefined {
    const site = this.#opening.first();
    if (site < 0 || this.#opening.timeOf(site) > now) return undefined;
    const gate = this.#gate(site);
    const page = gate.line[0]!;
    this.#change(gate, () => {
      gate.held = false;
      gate.line.shift();
    });
    this.#waiting--;
    gate.busy++;
    gate.opensAt = now + gate.spacing;
    this.#queue(site, gate);
    return { page, site };
  }

  /** The earliest time at which someone in line may pass; Infinity when only a finished request can change that. */
  nextPassAt(): number {
    return this.#opening.timeOf(this.#opening.first());
  }

  /** A request is under way that did not pass here. */
  begin(site: number): void {
    this.#gate(site).busy++;
  }

  /** A request that passed has ended. */
  done(site: number): void {
    const gate = this.#gate(site);
    gate.busy--;
    this.#queue(site, gate);
  }

  /** A request went out at this time before we kept count (a process that was killed). */
  recall(site: number, at: number): void {
    const gate = this.#gate(site);
    gate.opensAt = Math.max(gate.opensAt, at + gate.spacing);
    this.#queue(site, gate);
  }

  #queue(site: number, gate: Gate): void {
    if (gate.line.length === 0 || gate.busy >= gate.breadth) this.#opening.remove(site);
    else this.#opening.set(site, gate.opensAt);
  }
}
