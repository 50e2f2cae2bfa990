/** `estimate` of reset probabilities by age: from lifetimes, from ages, or from looks. */
import { type SeenLife, resetFromLooks } from '../learn/reset-from-looks.ts';
import { countsOf, resetFromSeenAges, resetFromSeenLifetimes, usualAges } from '../learn/reset.ts';
import { type Probe, probesAt } from './probes.ts';
import { type Fields, Refusal, listAt, numberAt, numbersAt, onlyKeys } from './read.ts';

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

// A round goes through each step for each age, and there may be hundreds of rounds.
const workMax = 4_000_000;

/** `probes` of one page, or a list of them for each of several pages that change alike, at whole steps; `ages` probabilities. */
export function estimateResetFromProbes(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'from', 'probes', 'ages']);
  const ages = numberAt(problem['ages'], 'ages', { whole: true, min: 1, max: ageMax });
  const given = listAt(problem['probes'], 'probes', 1);
  const pages = Array.isArray(given[0])
    ? given.map((probes, i) => probesAt(probes, `probes[${i}]`))
    : [probesAt(given, 'probes')];
  const lives = pages.map(lifeOf);
  const steps = pages.reduce((sum, probes) => sum + probes.at(-1)!.at - probes[0]!.at, 0);
  if (steps > workMax)
    throw new Refusal(
      'probes',
      given,
      `looks over at most ${workMax} steps in all are expected where ages are asked for, not ${steps}: steps may be longer, such as days`,
    );
  if (steps * ages > workMax)
    throw new Refusal(
      'ages',
      ages,
      `at most ${Math.floor(workMax / steps)} for probes over ${steps} steps are expected`,
    );
  return { reset: Array.from(resetFromLooks(lives, ages)) };
}

function lifeOf(probes: readonly Probe[]): SeenLife {
  for (const { at, field } of probes)
    if (!Number.isInteger(at))
      throw new Refusal(`${field}.at`, at, 'whole steps are expected where ages are asked for');
  const [first, ...rest] = probes;
  const told = ({ at, lastModified }: Probe): number | undefined =>
    lastModified !== undefined && lastModified <= at ? Math.floor(at - lastModified) : undefined;
  const age = told(first!);
  const looks = rest.flatMap((probe, i) => {
    const steps = probe.at - probes[i]!.at;
    const known = told(probe);
    // A change lies within the gap, or the clock lies; of a page that did not change the word is old.
    const believed = probe.changed && known !== undefined && known < steps ? { age: known } : {};
    return steps > 0 ? [{ steps, changed: probe.changed, ...believed }] : [];
  });
  return { ...(age === undefined ? {} : { age }), looks };
}
