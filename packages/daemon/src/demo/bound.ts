/**
 * The least mean delay that any plan made ahead can expect on this budget, for someone who knows every law: each page's shape
 * and rate, though not the moments. Two weeks are planned as a market of pages; its dual value is the bound. A plan that
 * watches bursts as they happen may do better on pages that have them.
 */
import { constant, horizonShape, obsolescence, planMarket, shifted } from '@revisit/core';
import { type ShapeName, shapes } from './laws.ts';
import type { LivingPage } from './living-web.ts';

const horizonSeconds = 14 * 86_400;
/** A step of half an hour: finer ones lower the bound by less than a hundredth. */
const steps = 672;
const monday = 4 * 86_400;

export function boundHours(pages: readonly LivingPage[], looksPerSecond: number): number {
  const names = [...new Set(pages.map((page) => page.shape))] as ShapeName[];
  const found = names.map((name) =>
    horizonShape(obsolescence(shifted(shapes[name], -monday), constant(1), 0, horizonSeconds), steps),
  );
  const scale = Float64Array.from(pages, (page) => page.ratePerDay / 86_400);
  const plan = planMarket({
    horizon: horizonSeconds,
    budget: Math.floor(looksPerSecond * horizonSeconds),
    shapes: found,
    sites: [],
    shape: pages.map((page) => names.indexOf(page.shape)),
    scale,
    site: new Int32Array(pages.length).fill(-1),
  });
  const changes = scale.reduce((sum, rate) => sum + rate, 0) * horizonSeconds;
  return plan.lowerBound / changes / 3600;
}
