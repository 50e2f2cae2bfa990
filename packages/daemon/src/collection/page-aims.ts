/**
 * What the plan goes by for a page: what its user set, then its subscriptions and its collection. Importance is taken apart into
 * its mean, which belongs to the weight, and its week, which says only how hours differ.
 */
import { integral, profile, profileTrouble, weekSeconds } from '@revisit/core';
import type { CollectionRules } from '../config/collections.ts';
import type { Page } from '../values/page.ts';

export interface PageAims extends Pick<Page, 'life' | 'urgency' | 'loss'> {
  /** The page's own, times its collection's, times its mean importance. */
  readonly weight: number;
  /** How much each hour of the week counts, Monday 00:00 UTC first, 1 on average; the same array for pages of the same week. */
  readonly importance?: Float64Array;
}

const hoursInWeek = 168;
const hourSeconds = 3600;

/** Most pages set nothing: they have this in common. */
export const plainAims: PageAims = { weight: 1 };

interface Importance {
  readonly mean: number;
  readonly week?: Float64Array;
}

export class PageAimsBook {
  /** Importances met so far, by how they are written. */
  readonly #importances = new Map<string, Importance>();

  of(page: Page, rules?: CollectionRules, needs?: Pick<Page, 'life' | 'urgency'>): PageAims {
    const { mean, week } = this.#importance(page.importance);
    const weight = page.weight * (rules?.weight ?? 1) * mean;
    const laws = { ...needs, ...(rules ? stated(rules) : {}), ...stated(page) };
    if (weight === 1 && !week && Object.keys(laws).length === 0) return plainAims;
    return { weight, ...laws, ...(week ? { importance: week } : {}) };
  }

  #importance(given: Page['importance']): Importance {
    if (given === undefined) return { mean: 1 };
    if (typeof given === 'number') return { mean: given };
    const key = JSON.stringify(given);
    let known = this.#importances.get(key);
    if (!known) {
      known = importanceOf(given);
      this.#importances.set(key, known);
    }
    return known;
  }
}

function importanceOf({ breaks, values, period }: Exclude<NonNullable<Page['importance']>, number>): Importance {
  // What is kept was checked when it was set; a page from elsewhere that was not counts as if it had said nothing.
  if (profileTrouble(breaks, values, period) !== undefined) return { mean: 1 };
  const week = profile(breaks, values, period ?? breaks.at(-1)! - breaks[0]!);
  const hours = Float64Array.from(
    { length: hoursInWeek },
    (_, h) => integral(week, h * hourSeconds, (h + 1) * hourSeconds) / hourSeconds,
  );
  const mean = integral(week, 0, weekSeconds) / weekSeconds;
  if (!(mean > 0) || hours.every((value) => Math.abs(value - mean) <= 1e-9 * mean)) return { mean };
  return { mean, week: hours.map((value) => value / mean) };
}

function stated({ life, urgency, loss }: Pick<Page, 'life' | 'urgency' | 'loss'>): Omit<PageAims, 'weight'> {
  return { ...(life ? { life } : {}), ...(urgency ? { urgency } : {}), ...(loss ? { loss } : {}) };
}
