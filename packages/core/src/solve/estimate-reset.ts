/** `estimate` from lifetimes or ages: reset probabilities by age. */
import { countsOf, resetFromSeenAges, resetFromSeenLifetimes, usualAges } from '../learn/reset.ts';
import { type Fields, Refusal, numberAt, numbersAt, onlyKeys } from './read.ts';

// Ages are steps; a century of days is 36,525.
const ageMax = 100_000;

interface Seen {
  readonly counts: Float64Array;
  readonly ages: number;
  readonly beyond: number;
}

/**
 * `values` are what was seen, one whole number each, and `ages` how many probabilities to return (by default as many as
 * leave a tenth of them to the last, whose tail is memoryless). Or `ages` lists ages and `values` their counts or shares; shares that do not add up to 1 leave the
 * rest to greater ages.
 */
function seenAt(problem: Fields): Seen {
  onlyKeys(problem, '', ['kind', 'from', 'values', 'ages']);
  const given = problem['ages'];
  if (Array.isArray(given)) {
    const at = numbersAt(given, 'ages', { whole: true, min: 0, max: ageMax }, 1);
    const values = numbersAt(problem['values'], 'values', { min: 0 }, 1);
    if (values.length !== at.length) {
      throw new Refusal('values', problem['values'], `${at.length} numbers, one for each of "ages", are expected`);
    }
    const counts = new Float64Array(Math.max(...at) + 1);
    at.forEach((age, i) => (counts[age] += values[i]));
    const total = values.reduce((a, b) => a + b, 0);
    if (total === 0) throw new Refusal('values', problem['values'], 'something above 0 is expected');
    return { counts, ages: counts.length, beyond: total < 1 - 1e-9 ? 1 - total : 0 };
  }
  const counts = countsOf(numbersAt(problem['values'], 'values', { whole: true, min: 0, max: ageMax }, 1));
  const ages = given === undefined ? usualAges(counts) : numberAt(given, 'ages', { whole: true, min: 1, max: ageMax });
  return { counts, ages, beyond: 0 };
}

export function estimateFromLifetimes(problem: Fields): Record<string, unknown> {
  const { counts, ages, beyond } = seenAt(problem);
  return { reset: Array.from(resetFromSeenLifetimes(counts, ages, beyond)) };
}

export function estimateFromAges(problem: Fields): Record<string, unknown> {
  const { counts, ages } = seenAt(problem);
  return { reset: Array.from(resetFromSeenAges(counts, ages)) };
}
