/**
 * Which hours count more than others, for all pages or for a page of its own, and the tables of best hours (best-hour.ts) that
 * follow from it. Pages that share the array of an importance, and the week in which they change, share its tables.
 */
import { hourOfWeek } from '../learn/drawn-week.ts';
import type { PageWeek, PageWeeks } from '../learn/page-weeks.ts';
import type { SiteWeek } from '../learn/site-week.ts';
import { WeekShape } from '../learn/week-shape.ts';
import { BestHour } from './best-hour.ts';
import type { Watched } from './policy.ts';

/** Weeks of importance that have tables, some hundred kilobytes each; pages of further ones go by the moment's importance alone. */
const weeksMax = 64;
/** Tables of sites that have weeks of their own, as large, and a tenth of a second to make; pages of further ones go by the moment too. */
const siteTablesMax = 64;

type Counting = Pick<Watched, 'importance'>;

export class ImportantHours {
  private readonly weeks: PageWeeks;
  private readonly general: ((t: number) => number) | undefined;
  private readonly usual: BestHour;
  private readonly own = new Map<ArrayLike<number>, { readonly hours: BestHour; pages: number }>();
  /** By the site's week and the importance, if any. */
  private readonly bySite = new Map<SiteWeek, Map<ArrayLike<number> | undefined, BestHour>>();
  private siteTables = 0;
  /** How many weeks had been retired when their tables were last dropped. */
  private swept = 0;

  constructor(weeks: PageWeeks, general?: (t: number) => number) {
    this.weeks = weeks;
    this.general = general;
    this.usual = new BestHour(weeks.all, general);
  }

  open({ importance }: Counting): void {
    if (!importance) return;
    const known = this.own.get(importance);
    if (known) known.pages++;
    else if (this.own.size < weeksMax) {
      const hours = new BestHour(this.weeks.all, (t) => importance[hourOfWeek(t)]!);
      this.own.set(importance, { hours, pages: 1 });
    }
  }

  close({ importance }: Counting): void {
    const known = importance && this.own.get(importance);
    if (!known || --known.pages > 0) return;
    this.own.delete(importance);
    for (const tables of this.bySite.values()) if (tables.delete(importance)) this.siteTables--;
  }

  /** How much the time counts for a page. */
  at({ importance }: Counting, t: number): number {
    if (importance) return importance[hourOfWeek(t)]!;
    return this.general ? this.general(t) : 1;
  }

  /** Mean importance of an hour for a page. */
  usualOf({ importance }: Counting): number {
    return (importance ? this.own.get(importance)?.hours : this.usual)?.usual ?? 1;
  }

  /** The table of best hours of a page that goes by this week; undefined where there are too many tables already. */
  of({ importance }: Counting, week: PageWeek): BestHour | undefined {
    const common = importance ? this.own.get(importance)?.hours : this.usual;
    if (week instanceof WeekShape || !common) return common;
    const known = this.bySite.get(week)?.get(importance);
    if (known) return known;
    if (this.siteTables >= siteTablesMax && !this.dropRetired()) return undefined;
    const hours = new BestHour(week, importance ? (t) => importance[hourOfWeek(t)]! : this.general);
    const tables = this.bySite.get(week) ?? new Map<ArrayLike<number> | undefined, BestHour>();
    this.bySite.set(week, tables.set(importance, hours));
    this.siteTables++;
    return hours;
  }

  /** Whether there is room again. */
  private dropRetired(): boolean {
    if (this.swept === this.weeks.retired) return false;
    this.swept = this.weeks.retired;
    for (const [week, tables] of this.bySite) {
      if (!week.retired) continue;
      this.bySite.delete(week);
      this.siteTables -= tables.size;
    }
    return this.siteTables < siteTablesMax;
  }
}
