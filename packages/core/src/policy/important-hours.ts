/**
 * Which hours count more than others, for all pages or for a page of its own, and the tables of best hours (best-hour.ts) that
 * follow from it. Pages that share the array of an importance share its tables.
 */
import { hourOfWeek, type WeekShape } from '../learn/week-shape.ts';
import { BestHour } from './best-hour.ts';
import type { Watched } from './policy.ts';

/** Weeks of importance that have tables, some hundred kilobytes each; pages of further ones go by the moment's importance alone. */
const weeksMax = 64;

type Counting = Pick<Watched, 'importance'>;

export class ImportantHours {
  private readonly week: WeekShape;
  private readonly general: ((t: number) => number) | undefined;
  private readonly usual: BestHour;
  private readonly own = new Map<ArrayLike<number>, { readonly hours: BestHour; pages: number }>();

  constructor(week: WeekShape, general?: (t: number) => number) {
    this.week = week;
    this.general = general;
    this.usual = new BestHour(week, general);
  }

  open({ importance }: Counting): void {
    if (!importance) return;
    const known = this.own.get(importance);
    if (known) known.pages++;
    else if (this.own.size < weeksMax) {
      const hours = new BestHour(this.week, (t) => importance[hourOfWeek(t)]!);
      this.own.set(importance, { hours, pages: 1 });
    }
  }

  close({ importance }: Counting): void {
    const known = importance && this.own.get(importance);
    if (known && --known.pages === 0) this.own.delete(importance);
  }

  /** How much the time counts for a page. */
  at({ importance }: Counting, t: number): number {
    if (importance) return importance[hourOfWeek(t)]!;
    return this.general ? this.general(t) : 1;
  }

  /** The page's table of best hours; undefined where there are too many weeks already. */
  of({ importance }: Counting): BestHour | undefined {
    return importance ? this.own.get(importance)?.hours : this.usual;
  }
}
