/** The activity of every site, by the group that holds all its pages. Those in which something was last found are saved. */
import type { GroupKeys } from '../model/kin.ts';
import { Activity } from './activity.ts';
import { LatestGroups } from './latest-groups.ts';

/** Sites that are saved: 400 bytes each, written every minute. */
const savedMost = 256;

export class SiteActivities {
  private readonly bySite: (Activity | undefined)[] = [];
  private readonly latest = new LatestGroups(savedMost);

  open(site: number): void {
    this.bySite[site] ??= new Activity();
  }

  factor(site: number, now: number): number {
    return this.bySite[site]!.factor(now);
  }

  learn(site: number, now: number, plain: number, credit: number): void {
    this.bySite[site]!.learn(now, plain, credit);
    if (credit > 0) this.latest.touch(site);
  }

  /** Each site's key and what its activity saves. */
  save(keys: GroupKeys): number[][] {
    return [...this.latest].map((site) => [keys.keyOf(site), ...this.bySite[site]!.save()]);
  }

  restore(saved: readonly number[][], keys: GroupKeys, now: number): void {
    for (const [key, ...state] of saved) {
      const site = keys.groupOf(key!);
      const activity = site === undefined ? undefined : this.bySite[site];
      if (activity?.restore(state, now)) this.latest.touch(site!);
    }
  }
}
