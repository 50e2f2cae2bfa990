/**
 * The activity of every site, apart for pages of each speed, by the group that holds all pages of the site. A sweep through a site
 * reaches pages that hardly ever change, a week of releases those that change often: one factor for all of them would say too little
 * of the ones and too much of the others. Those in which something was last found are saved.
 */
import type { GroupKeys } from '../model/kin.ts';
import { Activity, savedNumbers } from './activity.ts';
import { LatestGroups } from './latest-groups.ts';
import { speeds } from './week-say.ts';

/** Sites and speeds that are saved: 400 bytes each, written every minute. */
const savedMost = 512;

export class SiteActivities {
  /** For each site one for each speed at which looks have been made. */
  private readonly bySite: (Activity | undefined)[][] = [];
  private readonly latest = new LatestGroups(savedMost);

  open(site: number): void {
    this.bySite[site] ??= [];
  }

  factor(site: number, speed: number, now: number): number {
    return this.bySite[site]![speed]?.factor(now) ?? 1;
  }

  learn(site: number, speed: number, now: number, plain: number, credit: number): void {
    this.of(site, speed).learn(now, plain, credit);
    if (credit > 0) this.latest.touch(site * speeds + speed);
  }

  /** Each site's key, a speed and what its activity there saves. */
  save(keys: GroupKeys): number[][] {
    return [...this.latest].map((place) => {
      const site = Math.floor(place / speeds);
      const speed = place % speeds;
      return [keys.keyOf(site), speed, ...this.of(site, speed).save()];
    });
  }

  restore(saved: readonly number[][], keys: GroupKeys, now: number): void {
    for (const [key, ...state] of saved) {
      const site = keys.groupOf(key!);
      if (site === undefined || this.bySite[site] === undefined) continue;
      // Earlier versions saved one for all speeds.
      const whole = state.length === savedNumbers;
      for (let speed = 0; speed < speeds; speed++) {
        if (!whole && speed !== state[0]) continue;
        const activity = new Activity();
        if (!activity.restore(whole ? state : state.slice(1), now)) continue;
        this.bySite[site][speed] = activity;
        this.latest.touch(site * speeds + speed);
      }
    }
  }

  private of(site: number, speed: number): Activity {
    return (this.bySite[site]![speed] ??= new Activity());
  }
}
