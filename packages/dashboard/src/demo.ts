/** What only a demonstration answers: its daemon knows the laws of the web it watches. */
import { Problem, urlOf } from './server.ts';

export interface DelayRow {
  readonly changes: number;
  readonly ours: number | null;
  readonly uniform: number | null;
  readonly bound: number;
}

export interface DemoRate {
  readonly id: string;
  readonly url: string;
  readonly kind: string;
  readonly trueRatePerDay: number;
  readonly learnedRatePerDay: number | null;
}

export interface DemoReport {
  readonly virtualDays: number;
  readonly speed: number;
  readonly sites: number;
  readonly pages: number;
  readonly budgetPerHour: number;
  readonly policy: string;
  readonly looks: number;
  readonly changes: { readonly happened: number; readonly unseen: number };
  readonly delayHours: { readonly lastDay: DelayRow; readonly all: DelayRow };
  readonly series: readonly ({ readonly at: string } & DelayRow)[];
  readonly medianFactor: number | null;
  readonly rates: readonly DemoRate[];
}

const key = 'revisit-demo';

/** Whether this daemon has shown itself to be one; its first address leads to its panel. */
export const isDemo = (): boolean => sessionStorage.getItem(key) !== null;

export async function askDemo(): Promise<DemoReport> {
  const answer = await fetch(urlOf('/api/demo'));
  if (!answer.ok)
    throw new Problem(answer.status, 'no-demo', 'This daemon is no demonstration; "revisit demo" is one.');
  sessionStorage.setItem(key, '1');
  return (await answer.json()) as DemoReport;
}
