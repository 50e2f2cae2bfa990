/**
 * What one page of the standing market wants and loses at a price: looks a·L(x) a second and loss b·l(x), x = price·a ⁄ b, where its
 * changes fade (loss/fading.ts); otherwise those of the collection's week (steady-curve.ts), with a = 1 and b its rate × weight.
 */
import { type FadingPage, bestDistance, lossAt } from '../loss/fading.ts';
import { type SteadyCurve, evenCurve } from './steady-curve.ts';

/** A page as the market has it: its kind of loss, a and b. */
export type Wants = FadingPage | { readonly fading?: undefined; readonly a: number; readonly b: number };

/** Seconds between looks at a price; Infinity for a page that never changes, or that no look is worth. */
export function every({ fading, a, b }: Wants, spacing: number, price: number, curve: SteadyCurve): number {
  if (!(b > 0)) return Infinity;
  if (!(price > 0)) return spacing;
  return Math.max(spacing, fading ? bestDistance(fading, (price * a) / b) / a : 1 / curve.looks(price / b));
}

interface Cost {
  readonly loss: number;
  /** The least of loss + price × looks. */
  readonly lower: number;
}

export function costAt(wants: Wants, spacing: number, price: number, curve: SteadyCurve): Cost {
  return wants.fading ? fadingCost(wants, spacing, price) : evenCost(wants, spacing, price, curve);
}

function evenCost(wants: Wants, spacing: number, price: number, curve: SteadyCurve): Cost {
  const scale = wants.b;
  // At no price at all, pages are looked at as often as they may be.
  if (spacing > 0 && every(wants, spacing, price, curve) === spacing) {
    const loss = (scale * spacing) / 2;
    return { loss, lower: scale * curve.lower((spacing * spacing) / 2) + price / spacing - loss };
  }
  const ratio = price / scale;
  return price > 0 ? { loss: scale * curve.loss(ratio), lower: scale * curve.lower(ratio) } : { loss: 0, lower: 0 };
}

/** Even distances are the best there are, so loss and bound are one. */
function fadingCost(page: FadingPage, spacing: number, price: number): Cost {
  const seconds = every(page, spacing, price, evenCurve);
  const loss = page.b * lossAt(page.fading, page.a * seconds);
  return { loss, lower: loss + (seconds > 0 && seconds < Infinity ? price / seconds : 0) };
}
