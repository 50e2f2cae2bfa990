/**
 * How often a page is expected to change before much is known of it: what its groups have shown, the widest first, each a prior
 * for the next, from the mean of the whole collection down to the page's own folder and stem.
 *
 *   mean of a group = (changes found in it + k) / (time its pages were watched + k / mean of the group above)
 *
 * The page's long-run rate is then the mean of a Gamma posterior with that mean as its prior's. Cost: O(groups of a page), at most four.
 */

/** A group's own rate outweighs its parent's when it has seen about this many changes. */
const groupPrior = 3;

export class PriorRates {
  /** The first guess of the mean rate, until changes have been found. */
  guess = 1 / (30 * 86_400);
  private readonly groupChanges: number[] = [];
  private readonly groupTime: number[] = [];
  private allChanges = 0;
  private allTime = 0;

  open(groups: readonly number[]): void {
    for (const group of groups) {
      this.groupChanges[group] ??= 0;
      this.groupTime[group] ??= 0;
    }
  }

  /** A page of these groups was watched for so long. */
  watched(groups: readonly number[], seconds: number): void {
    this.allTime += seconds;
    for (let i = 0; i < groups.length; i++) this.groupTime[groups[i]!]! += seconds;
  }

  /** So many changes were found on a page of these groups. */
  found(groups: readonly number[], changes: number): void {
    this.allChanges += changes;
    for (let i = 0; i < groups.length; i++) this.groupChanges[groups[i]!]! += changes;
  }

  /** The mean rate of the whole collection. */
  mean(): number {
    return (this.allChanges + 1) / (this.allTime + 1 / this.guess);
  }

  /** The mean rate to be expected of a page of these groups, narrowest first. */
  of(groups: readonly number[]): number {
    let mean = this.mean();
    for (let i = groups.length - 1; i >= 0; i--) {
      const group = groups[i]!;
      mean = (this.groupChanges[group]! + groupPrior) / (this.groupTime[group]! + groupPrior / mean);
    }
    return mean;
  }
}

/** The mean of a Gamma posterior for a rate, or its median by Wilson and Hilferty. */
export function posteriorRate(
  shape: number,
  priorMean: number,
  changes: number,
  seconds: number,
  median: boolean,
): number {
  const known = shape + changes;
  const typical = median ? known * Math.max(0.01, 1 - 1 / (9 * known)) ** 3 : known;
  return typical / (shape / priorMean + seconds);
}
