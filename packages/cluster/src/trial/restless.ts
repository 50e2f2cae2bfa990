/**
 * Pages that do not wait: each is edited again and again, whether or not anybody has seen it, while processes and links of a cluster are
 * in trouble. What somebody was served is compared with what was told: every edition that whoever got it lived to tell, once, and in
 * order.
 */
import { eventually } from '../../../daemon/src/trial/command.ts';
import { type Crew, hosts, pathOf } from './crew.ts';
import { type ChangeBody, type PageBody, allChanges, json, versionsOf, wrongOfPage } from './verdict.ts';

/** Between two editions of a page: from less than a look takes on its way home to more than a lease. */
const editMsMin = 300;
const editMsMax = 4_000;
/** A robot that is killed takes with it what it was served in the last so long. */
const onItsWayMs = 1_500;
/** What was found elsewhere may come so long after everything else is there. */
const settleMs = 15_000;

interface Edit {
  readonly edition: number;
  /** How many requests had come by then. */
  readonly asked: number;
}

/** In letters: a number that differs at look after look is taken for a counter. */
function lettersOf(edition: number): string {
  return edition.toString(26).replaceAll(/./g, (digit) => String.fromCodePoint(97 + Number.parseInt(digit, 26)));
}

export interface Tally {
  readonly editions: number;
  readonly served: number;
  /** With who was served what was lost, and when after the last trouble. */
  readonly lost: readonly string[];
  readonly wrong: readonly string[];
}

export class Restless {
  readonly #crew: Crew;
  readonly #random: () => number;
  readonly #edits = new Map<string, Edit[]>();
  readonly #kills: { readonly who: string; readonly atMs: number }[] = [];
  readonly #troubles: { readonly fault: string; readonly atMs: number }[] = [];
  #timers = new Set<NodeJS.Timeout>();

  constructor(crew: Crew, luck: () => number) {
    this.#crew = crew;
    this.#random = luck;
    for (let host = 0; host < hosts; host++) this.#edit(pathOf(host));
  }

  #edit(path: string): void {
    const { web } = this.#crew.servers;
    const edits = this.#edits.get(path) ?? [];
    this.#edits.set(path, edits);
    const edition = edits.length + 1;
    edits.push({ edition, asked: web.asked.length });
    web.pages.set(path, `<p>edition ${lettersOf(edition)} of the page</p>`);
  }

  start(): void {
    const next = (path: string): void => {
      const timer = setTimeout(
        () => {
          this.#timers.delete(timer);
          this.#edit(path);
          next(path);
        },
        editMsMin + this.#random() * (editMsMax - editMsMin),
      );
      this.#timers.add(timer);
    };
    for (const path of this.#edits.keys()) next(path);
  }

  troubled(fault: string): void {
    this.#troubles.push({ fault, atMs: Date.now() });
  }

  /** Whoever's agent says so was killed now. */
  killed(who: string): void {
    this.#kills.push({ who, atMs: Date.now() });
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #around(atMs: number): string {
    const last = this.#troubles.findLast((trouble) => trouble.atMs <= atMs);
    const next = this.#troubles.find((trouble) => trouble.atMs > atMs);
    const seconds = (fromMs: number): string => `${((atMs - fromMs) / 1000).toFixed(1)} s`;
    return [last && `${seconds(last.atMs)} after ${last.fault}`, next && `${seconds(next.atMs)} to ${next.fault}`]
      .filter(Boolean)
      .join(', ');
  }

  #isExcused(agent: string, atMs: number): boolean {
    const who = /east|west/.exec(agent)?.[0] ?? 'robot';
    return this.#kills.some((kill) => kill.who === who && atMs <= kill.atMs && atMs > kill.atMs - onItsWayMs);
  }

  /** By path: the editions that somebody was served, and by whom and when first, of those who lived to tell. */
  #served(): ReadonlyMap<string, ReadonlyMap<number, string>> {
    const { asked } = this.#crew.servers.web;
    const served = new Map<string, Map<number, string>>();
    asked.forEach(({ path, agent, atMs }, i) => {
      const edit = this.#edits.get(path)?.findLast((each) => each.asked <= i);
      if (!edit) return;
      const seen = served.get(path) ?? new Map<number, string>();
      served.set(path, seen);
      const who = /east|west/.exec(agent)?.[0] ?? 'robot';
      if (this.#isExcused(agent, atMs)) return;
      seen.set(edit.edition, `${seen.get(edit.edition) ?? ''} ${who} ${this.#around(atMs)}`);
    });
    return served;
  }

  /** After it was stopped and every page's last edition was told. */
  async tally(coordinator: string): Promise<Tally> {
    await eventually(() => this.#allTold(coordinator));
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const { pages } = await json<{ pages: PageBody[] }>(`${coordinator}/api/pages?limit=1000`);
    const changes = await allChanges(coordinator);
    const served = this.#served();
    const tally = { editions: 0, served: 0, lost: [] as string[], wrong: [] as string[] };
    for (const page of pages) await this.#judge(coordinator, page, changes, served, tally);
    return tally;
  }

  async #allTold(coordinator: string): Promise<boolean> {
    const { pages } = await json<{ pages: PageBody[] }>(`${coordinator}/api/pages?limit=1000`).catch(() => ({
      pages: [],
    }));
    if (pages.length < hosts) return false;
    for (const page of pages) {
      const text = await (await fetch(`${coordinator}/api/pages/${page.id}/versions/${page.version}`)).text();
      if (!text.includes(`edition ${lettersOf(this.#edits.get(new URL(page.url).pathname)!.length)} `)) return false;
    }
    return true;
  }

  async #judge(
    coordinator: string,
    page: PageBody,
    changes: readonly ChangeBody[],
    served: ReadonlyMap<string, ReadonlyMap<number, string>>,
    tally: { editions: number; served: number; lost: string[]; wrong: string[] },
  ): Promise<void> {
    const path = new URL(page.url).pathname;
    const edits = this.#edits.get(path)!;
    const byLetters = new Map(edits.map(({ edition }) => [lettersOf(edition), edition]));
    const texts = await versionsOf(coordinator, page);
    const editions = texts.map((text) => byLetters.get(/edition (\w+)/.exec(text)?.[1] ?? '') ?? Number.NaN);
    const seen = served.get(path)!;
    tally.editions += edits.length;
    tally.served += seen.size;
    for (const [edition, by] of seen)
      if (!editions.includes(edition)) tally.lost.push(`${path} edition ${edition}, served to${by}`);
    // Those that nobody saw are no part of the count, and those that are lost have been said.
    const known = [...new Set(editions)].toSorted((a, b) => a - b);
    const told = changes.filter((change) => change.pageId === page.id);
    const places = editions.map((edition) => known.indexOf(edition) + 1);
    tally.wrong.push(
      ...wrongOfPage(places, told, known.length).map((what) => `${page.url} ${what} (${editions.join(' ')})`),
    );
  }
}
