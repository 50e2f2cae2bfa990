/**
 * Who may be asked now. Each site has a gate that lets one request through at a time and then stays shut for its spacing;
 * pages whose gate is shut wait in line, first come first served. Times are in any one unit.
 *
 * Whoever is in a hurry stands before all who are not, at the own site and where there is not enough for all who could pass; of so many
 * passes in a row, one is somebody's who is not, so that no hurry keeps anybody waiting for ever.
 *
 * Sites that stand on one server pass its gate as well, with a spacing and a breadth of its own.
 *
 * A server that accepts and says nothing keeps whoever asks it for as long as a limit allows. So a site is `prompt` while it
 * answers, `slow` once it has kept somebody for nothing, and `unknown` before. At most `slowMax` requests are under way at slow sites, and `unsureMax` at slow
 * and unknown ones together: however many such servers there are, the rest is left for sites that answer, and unknown
 * ones come to know us.
 *
 * Invariant: two requests to one site start at least `spacing` apart and never overlap; a site held until a given time
 * (Retry-After, back-off) gets none before it. The same holds for a server, over all its sites. Cost: O(log sites) a change.
 */
import { DueQueue } from '../time/due-queue.ts';

/** How soon a site answers, as far as is known. */
export type Promptness = 'prompt' | 'unknown' | 'slow';

/** The gates of the sites of one promptness. */
interface Lane {
  /** When each opens, of those with someone in line and room for a request. */
  readonly opening: DueQueue;
  /** Of those, the ones where somebody is in a hurry. */
  readonly hurriedOpening: DueQueue;
  crowd: number;
  busy: number;
}

type Opening = 'opening' | 'hurriedOpening';

const newLane = (): Lane => ({ opening: new DueQueue(), hurriedOpening: new DueQueue(), crowd: 0, busy: 0 });

interface Server {
  opensAt: number;
  spacing: number;
  busy: number;
  breadth: number;
  /** Sites whose own gate is open while as many requests are under way as the server takes. */
  readonly turnedAway: Set<number>;
  /** Sites whose last request came back as the server takes no more for now, in the order in which they did. */
  readonly turnedBack: Set<number>;
}

interface Gate {
  opensAt: number;
  spacing: number;
  busy: number;
  /** How many requests may be under way at once. */
  breadth: number;
  readonly line: number[];
  /** So many at the head of the line are in a hurry. */
  hurried: number;
  /** Passes of the hurried since one of the others passed. */
  hurriedRun: number;
  /** Shut by `holdUntil`, not by its spacing: whoever waits here waits for long. */
  held: boolean;
  /** Where other sites stand as well. */
  server: Server | undefined;
  promptness: Promptness;
}

/** How many of one site's line count as the crowd: enough to never leave its gate idle. */
const crowdPerSite = 2;
/** Of the sites that a server turned back, so many are looked through for one that may pass: a server may have thousands. */
const turnedBackMax = 64;
/** Passes of the hurried before one of the others, where some wait. */
const hurriedRunMax = 4;

export class Gates {
  readonly #gates = new Map<number, Gate>();
  readonly #servers = new Map<number, Server>();
  readonly #lanes: Readonly<Record<Promptness, Lane>> = { prompt: newLane(), unknown: newLane(), slow: newLane() };
  #hurriedRun = 0;
  #waiting = 0;
  /** How many requests may be under way at slow sites, and at slow and unknown ones together. */
  #slowMax = Infinity;
  #unsureMax = Infinity;

  #gate(site: number): Gate {
    let gate = this.#gates.get(site);
    if (!gate) {
      const line = { line: [], hurried: 0, hurriedRun: 0 };
      const unheard = { held: false, server: undefined, promptness: 'unknown' } as const;
      gate = { opensAt: -Infinity, spacing: 0, busy: 0, breadth: 1, ...line, ...unheard };
      this.#gates.set(site, gate);
    }
    return gate;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * How many wait who may soon pass: a few of each line, none of sites that are held, nor of those whose kind has as many requests
   * under way as it may. Whoever fills the lines up to a limit uses this number, or slow or closed sites with many pages would
   * keep all others out.
   */
  get crowd(): number {
    const { prompt, unknown, slow } = this.#lanes;
    return prompt.crowd + (this.#isFull('unknown') ? 0 : unknown.crowd) + (this.#isFull('slow') ? 0 : slow.crowd);
  }

  #isFull(promptness: Promptness): boolean {
    const { unknown, slow } = this.#lanes;
    if (promptness === 'prompt') return false;
    return unknown.busy + slow.busy >= this.#unsureMax || (promptness === 'slow' && slow.busy >= this.#slowMax);
  }

  /** Changes a gate's line, its being held or its promptness, and keeps the count of the crowd right. */
  #change(gate: Gate, change: () => void): void {
    this.#lanes[gate.promptness].crowd -= gate.held ? 0 : Math.min(crowdPerSite, gate.line.length);
    change();
    this.#lanes[gate.promptness].crowd += gate.held ? 0 : Math.min(crowdPerSite, gate.line.length);
  }

  /** What of all requests slow sites may have, and slow and unknown ones together. */
  share(slowMax: number, unsureMax: number): void {
    this.#slowMax = slowMax;
    this.#unsureMax = unsureMax;
  }

  promptnessOf(site: number): Promptness {
    return this.#gates.get(site)?.promptness ?? 'unknown';
  }

  setPromptness(site: number, promptness: Promptness): void {
    const gate = this.#gate(site);
    if (gate.promptness === promptness) return;
    const [before, after] = [this.#lanes[gate.promptness], this.#lanes[promptness]];
    this.#unqueue(site);
    before.busy -= gate.busy;
    after.busy += gate.busy;
    this.#change(gate, () => (gate.promptness = promptness));
    this.#queue(site, gate);
  }

  /** Whether one more request may be under way at a site of its kind. */
  admits(site: number): boolean {
    return !this.#isFull(this.promptnessOf(site));
  }

  #count(gate: Gate, requests: 1 | -1): void {
    gate.busy += requests;
    this.#lanes[gate.promptness].busy += requests;
  }

  /** A wider spacing counts from the last request on, as far as that was not long ago. */
  setSpacing(site: number, spacing: number, breadth = 1): void {
    const gate = this.#gate(site);
    if (!gate.held) gate.opensAt += Math.max(0, spacing - gate.spacing);
    gate.spacing = spacing;
    gate.breadth = breadth;
    this.#queue(site, gate);
  }

  /**
   * The site stands on a server with others, numbered as the caller likes, or on none. While one of its requests is under way this
   * changes nothing, and is to be said again: that request left by the gates there were.
   */
  stand(site: number, server: number | undefined, spacing = 0, breadth = 1): void {
    const gate = this.#gate(site);
    if (gate.busy > 0) return;
    if (gate.server?.turnedAway.delete(site)) this.#queue(site, gate);
    if (server === undefined) {
      gate.server?.turnedBack.delete(site);
      gate.server = undefined;
      return;
    }
    let known = this.#servers.get(server);
    if (!known) {
      known = { opensAt: -Infinity, spacing, busy: 0, breadth, turnedAway: new Set(), turnedBack: new Set() };
      this.#servers.set(server, known);
    }
    known.spacing = spacing;
    known.breadth = breadth;
    if (gate.server === known) return;
    gate.server?.turnedBack.delete(site);
    gate.server = known;
    // Its last request was one to the server.
    if (!gate.held) known.opensAt = Math.max(known.opensAt, gate.opensAt - gate.spacing + spacing);
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
    return !gate || (gate.line.length === 0 && this.open(site, now));
  }

  /** Whether a request could go out now, whoever waits. */
  open(site: number, now: number): boolean {
    const gate = this.#gates.get(site);
    if (!gate) return true;
    const { server } = gate;
    const served = !server || (server.busy < server.breadth && server.opensAt <= now);
    return served && gate.busy < gate.breadth && gate.opensAt <= now;
  }

  opensAt(site: number): number {
    const gate = this.#gates.get(site);
    return gate ? Math.max(gate.opensAt, gate.server?.opensAt ?? -Infinity) : -Infinity;
  }

  /** The page waits in its site's line. */
  wait(site: number, page: number): void {
    this.#stand(site, page, this.#gate(site).line.length);
  }

  /** The page waits at the head of its site's line, behind those in a hurry. */
  waitFirst(site: number, page: number): void {
    this.#stand(site, page, this.#gate(site).hurried);
  }

  /** The page is in a hurry: it waits behind those alone that are as well. */
  hurry(site: number, page: number): void {
    this.#stand(site, page, this.#gate(site).hurried++);
  }

  #stand(site: number, page: number, place: number): void {
    const gate = this.#gate(site);
    this.#change(gate, () => gate.line.splice(place, 0, page));
    this.#waiting++;
    this.#queue(site, gate);
  }

  /** Takes a page out of its line, wherever it stands. */
  leave(site: number, page: number): boolean {
    const gate = this.#gate(site);
    const place = gate.line.indexOf(page);
    if (place < 0) return false;
    this.#takeOut(gate, place);
    this.#queue(site, gate);
    return true;
  }

  #takeOut(gate: Gate, place: number): number {
    const page = gate.line[place]!;
    if (place < gate.hurried) gate.hurried--;
    this.#change(gate, () => (place === 0 ? gate.line.shift() : gate.line.splice(place, 1)));
    this.#waiting--;
    return page;
  }

  /** The first page whose gate is open now, with the gate shut behind it; undefined when nobody may pass. */
  pass(now: number): { readonly page: number; readonly site: number } | undefined {
    const othersTurn = this.#hurriedRun >= hurriedRunMax;
    const hurried = othersTurn ? undefined : this.#firstServed('hurriedOpening', now);
    const site = hurried ?? this.#firstServed('opening', now);
    if (site === undefined) return undefined;
    const gate = this.#gate(site);
    const isOthers = gate.line.length > gate.hurried && (othersTurn || gate.hurriedRun >= hurriedRunMax);
    const place = isOthers ? gate.hurried : 0;
    const isHurried = place < gate.hurried;
    gate.hurriedRun = isHurried ? gate.hurriedRun + 1 : 0;
    this.#hurriedRun = isHurried && !othersTurn ? this.#hurriedRun + 1 : 0;
    if (gate.held) this.#change(gate, () => (gate.held = false));
    const page = this.#takeOut(gate, place);
    this.#count(gate, 1);
    gate.opensAt = now + gate.spacing;
    if (gate.server) {
      gate.server.busy++;
      gate.server.opensAt = now + gate.server.spacing;
      gate.server.turnedBack.delete(site);
    }
    this.#queue(site, gate);
    return { page, site };
  }

  /** The first site whose own gate is open and whose server takes a request; the others come when theirs does. */
  #firstServed(which: Opening, now: number): number | undefined {
    for (;;) {
      const opening = this.#nextToOpen(which);
      const site = opening.first();
      if (site < 0 || opening.timeOf(site) > now) return undefined;
      const { server } = this.#gate(site);
      if (server && server.busy >= server.breadth) {
        this.#unqueue(site);
        server.turnedAway.add(site);
      } else if (server && server.opensAt > now) opening.set(site, server.opensAt);
      else return (server && which === 'opening' ? this.#firstTurnedBack(server, now) : undefined) ?? site;
    }
  }

  #firstTurnedBack(server: Server, now: number): number | undefined {
    let left = turnedBackMax;
    for (const site of server.turnedBack) {
      if (left-- === 0) break;
      if (this.#gate(site).line.length === 0) server.turnedBack.delete(site);
      else if (this.open(site, now) && this.admits(site)) return site;
    }
    return undefined;
  }

  /**
   * A request that passed came back unsent, as its server takes no more for now. Of all sites there, those go first from then on that
   * were turned back longest ago: else, where a server takes less than its sites want, one that always comes a moment later than
   * the others would never be asked.
   */
  turnedBack(site: number): void {
    const turned = this.#gate(site).server?.turnedBack;
    turned?.delete(site);
    turned?.add(site);
  }

  /** Where the gate stands that opens first, of those that may let somebody through. */
  #nextToOpen(which: Opening): DueQueue {
    const { prompt, unknown, slow } = this.#lanes;
    let next = prompt[which];
    if (!this.#isFull('unknown')) next = earlier(next, unknown[which]);
    if (!this.#isFull('slow')) next = earlier(next, slow[which]);
    return next;
  }

  /** The earliest time at which someone in line may pass; Infinity when only a finished request can change that. */
  nextPassAt(): number {
    const opening = this.#nextToOpen('opening');
    return opening.timeOf(opening.first());
  }

  /** A request is under way that did not pass here. */
  begin(site: number): void {
    const gate = this.#gate(site);
    this.#count(gate, 1);
    if (gate.server) gate.server.busy++;
  }

  /**
   * A request that passed has ended, and was seen at that time, from which its spacing counts; without one it never went out. Where
   * it was kept waiting after it had passed, there were more before its server than that takes, and the next come so much later.
   */
  done(site: number, seenAt = -Infinity, keptFor = 0): void {
    const gate = this.#gate(site);
    this.#count(gate, -1);
    gate.opensAt = Math.max(gate.opensAt, seenAt + gate.spacing);
    this.#queue(site, gate);
    const { server } = gate;
    if (!server) return;
    server.busy--;
    server.opensAt = Math.max(server.opensAt, seenAt + server.spacing) + keptFor;
    for (const other of server.turnedAway) this.#queue(other, this.#gate(other));
    server.turnedAway.clear();
  }

  /** A request went out at this time before we kept count (a process that was killed). */
  recall(site: number, at: number): void {
    const gate = this.#gate(site);
    gate.opensAt = Math.max(gate.opensAt, at + gate.spacing);
    const { server } = gate;
    if (server) server.opensAt = Math.max(server.opensAt, at + server.spacing);
    this.#queue(site, gate);
  }

  #unqueue(site: number): void {
    const { opening, hurriedOpening } = this.#lanes[this.#gate(site).promptness];
    opening.remove(site);
    hurriedOpening.remove(site);
  }

  #queue(site: number, gate: Gate): void {
    const { opening, hurriedOpening } = this.#lanes[gate.promptness];
    const isFull = gate.busy >= gate.breadth;
    if (isFull || gate.line.length === 0) opening.remove(site);
    else opening.set(site, gate.opensAt);
    if (isFull || gate.hurried === 0) hurriedOpening.remove(site);
    else hurriedOpening.set(site, gate.opensAt);
  }
}

const earlier = (one: DueQueue, other: DueQueue): DueQueue =>
  other.timeOf(other.first()) < one.timeOf(one.first()) ? other : one;
