/** What a demonstration says of itself, to its own command and to the dashboard: its form, and when it says what. Imports nothing. */
export type Kind = 'news' | 'shop' | 'blog' | 'feed' | 'json' | 'docs' | 'noisy' | 'slow' | 'failing';

export interface DemoRate {
  readonly id: string;
  readonly url: string;
  readonly kind: Kind;
  readonly trueRatePerDay: number;
  readonly learnedRatePerDay: number | null;
  readonly learnedInterval: readonly (number | null)[] | null;
}

/** Mean hours from a change to its being seen; uniform and bound are null where too few changes were seen to compare. */
export interface DelayRow {
  readonly changes: number;
  readonly ours: number | null;
  readonly uniform: number | null;
  readonly bound: number | null;
}

export interface DemoReport {
  readonly now: string;
  readonly virtualDays: number;
  /** The speed asked for. */
  readonly speed: number;
  /** The share of it that this machine keeps: below 1 the demonstration's time waits for the work. */
  readonly pace: number;
  readonly sites: number;
  readonly pages: number;
  readonly budgetPerHour: number;
  readonly policy: string;
  readonly looks: number;
  readonly changes: { readonly happened: number; readonly unseen: number };
  /** How many changes have to have happened before ours, uniform and the bound are compared. */
  readonly changesNeeded: number;
  /** Over the last virtual day and from the beginning. */
  readonly delayHours: { readonly lastDay: DelayRow; readonly all: DelayRow };
  /** By whole days from the beginning, the last as far as it has come. */
  readonly days: readonly DelayRow[];
  readonly series: readonly ({ readonly at: string } & DelayRow)[];
  /** Half of the pages have a learned rate within this factor of the true one. */
  readonly medianFactor: number | null;
  readonly rates: readonly DemoRate[];
}

/** Above this pace nobody sees that the demonstration's time waits for its work. */
export const paceToTell = 0.9;

/** What the comparison over the last day waits for; undefined where there is one. */
export function waitsFor({ delayHours, changes, changesNeeded }: DemoReport): string | undefined {
  if (delayHours.lastDay.uniform !== null) return undefined;
  return changes.happened < changesNeeded
    ? `compared once ${changesNeeded} changes have happened`
    : 'too few changes in the last day to compare';
}
