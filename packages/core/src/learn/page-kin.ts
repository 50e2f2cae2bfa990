/**
 * The groups of every page through which siblings speak: those of its name's parts, which also say how often its like changes
 * (prior-rates.ts), and up to two of names that begin alike, which say nothing of that. The latter change while pages come;
 * 8 bytes a page, and 4 for its site.
 */
import { Siblings } from './siblings.ts';

/** Groups of names that begin alike that a page may have. */
const alikeMost = 2;

export class PageKin {
  readonly siblings = new Siblings();
  private readonly groups: (readonly number[] | undefined)[] = [];
  /** -1 where there is none. */
  private alikes = new Int32Array(0);
  private sites = new Int32Array(0);

  reserve(pages: number): void {
    const alikes = new Int32Array(alikeMost * pages).fill(-1);
    alikes.set(this.alikes);
    this.alikes = alikes;
    const sites = new Int32Array(pages);
    sites.set(this.sites);
    this.sites = sites;
  }

  open(page: number, groups: readonly number[], site: number): void {
    this.sites[page] = site;
    this.groups[page] = groups;
    for (const group of groups) this.siblings.open(group);
  }

  close(page: number): void {
    this.setAlike(page, []);
    for (const group of this.of(page)) this.siblings.close(group);
    this.groups[page] = undefined;
  }

  siteOf(page: number): number {
    return this.sites[page]!;
  }

  /** Narrowest first; the last is the site, or wider. */
  of(page: number): readonly number[] {
    return this.groups[page] ?? [];
  }

  /** The groups of names that begin like the page's. */
  alikeOf(page: number): readonly number[] {
    const found: number[] = [];
    for (let i = alikeMost * page; i < alikeMost * (page + 1); i++)
      if (this.alikes[i]! >= 0) found.push(this.alikes[i]!);
    return found;
  }

  setAlike(page: number, alike: readonly number[]): void {
    const { alikes, siblings } = this;
    // A million pages come at the start, so nothing is made to go through the groups.
    for (let k = 0; k < alikeMost; k++) {
      const place = alikeMost * page + k;
      if (alikes[place]! >= 0) siblings.close(alikes[place]!);
      alikes[place] = alike[k] ?? -1;
    }
    for (const group of alike) siblings.open(group, true);
  }

  /** Leaves with the siblings which of the page's groups concerns it most since its last look, and whose quiet does; `rate` is what is expected of it. */
  consult(page: number, last: number, now: number, rate: number): void {
    const { siblings, alikes } = this;
    const groups = this.groups[page]!;
    siblings.begin();
    for (let i = alikeMost * page; i < alikeMost * (page + 1); i++) {
      if (alikes[i]! < 0) continue;
      siblings.consider(alikes[i]!, last);
      siblings.considerQuiet(alikes[i]!, last, now, rate);
    }
    for (let i = 0; i < groups.length; i++) {
      siblings.consider(groups[i]!, last);
      siblings.considerQuiet(groups[i]!, last, now, rate);
    }
  }

  /** Whether siblings seen unchanged may speak for more than so much of the time between the page's last look and `now`. */
  isSpokenFor(page: number, last: number, now: number, part: number): boolean {
    this.consult(page, last, now, 0);
    return this.siblings.quietSeconds > part * (now - last);
  }

  /** The page, of which so many changes a second were expected, was found unchanged between two looks. */
  quiet(page: number, from: number, until: number, rate: number): void {
    for (const group of this.of(page)) this.siblings.quiet(group, from, until, rate);
    for (let i = alikeMost * page; i < alikeMost * (page + 1); i++)
      if (this.alikes[i]! >= 0) this.siblings.quiet(this.alikes[i]!, from, until, rate);
  }
}
