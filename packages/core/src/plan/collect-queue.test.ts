import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { allKinds, gainByDefinition, randomEpoch, utilityByDefinition } from './collect-instances.ts';
import { pageMarket } from './collect-page.ts';

test('pages that change nearly all the time: the best looks at the prices, for every law and sign', () => {
  const next = random(45);
  const instants = 30;
  for (let n = 0; n < 48; n++) {
    const kinds = { lives: [allKinds.lives[n % 4]], urgencies: [allKinds.urgencies[(n >> 2) % 4]] };
    const { pages } = randomEpoch(next, instants, 1, 1, kinds);
    const page = { ...pages[0], change: Array.from({ length: instants }, () => (next() < 0.15 ? 0 : next())) };
    const least = n % 2 === 0 ? 0 : -0.5;
    const price = Float64Array.from({ length: instants }, () => least + 2 * next() * page.weight);
    const { looks, gain } = pageMarket([page], instants).at(price, least < 0)(0);
    const best = new Float64Array(instants + 1);
    for (let f = 1; f <= instants; f++) {
      best[f] = -Infinity;
      for (let s = 0; s < f; s++) best[f] = Math.max(best[f], best[s] + gainByDefinition(page, s, f) - price[f - 1]);
    }
    const paid = looks.reduce((sum, f) => sum + price[f - 1], 0);
    expect(gain - paid).toBeCloseTo(Math.max(...best), 9);
    const schedule = Array.from({ length: instants }, (_, j) => (looks.includes(j + 1) ? [0] : []));
    expect(gain).toBeCloseTo(utilityByDefinition({ instants, capacity: 1, pages: [page] }, schedule), 9);
  }
});
