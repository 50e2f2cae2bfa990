/** `estimate` from `probes`: a rate from looks that found a change or not, and from the server's word where it gave one. */
import { estimateRate } from '../learn/rate.ts';
import { type Fields, Refusal, fieldsAt, listAt, numberAt, onlyKeys } from './read.ts';

interface Probe {
  readonly at: number;
  readonly changed: boolean;
  readonly lastModified: number | undefined;
}

function probeAt(value: unknown, field: string): Probe {
  const probe = fieldsAt(value, field);
  onlyKeys(probe, field, ['at', 'changed', 'lastModified']);
  const at = numberAt(probe['at'], `${field}.at`);
  const { changed } = probe;
  if (typeof changed !== 'boolean') throw new Refusal(`${field}.changed`, changed, 'true or false is expected');
  const modified = probe['lastModified'];
  return {
    at,
    changed,
    lastModified: modified === undefined ? undefined : numberAt(modified, `${field}.lastModified`),
  };
}

/**
 * The first look is where knowing begins: what it found says nothing, its Last-Modified does. A change whose time is known
 * leaves open what happened before it in the same gap; a Last-Modified outside its gap is a clock that lies.
 */
export function estimateFromProbes(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'from', 'probes']);
  const probes = listAt(problem['probes'], 'probes', 1).map((value, i) => probeAt(value, `probes[${i}]`));
  const changedGaps: number[] = [];
  let freeTime = 0;
  let exact = 0;
  probes.forEach(({ at, changed, lastModified }, i) => {
    const before = i === 0 ? -Infinity : probes[i - 1]!.at;
    if (at < before) throw new Refusal(`probes[${i}].at`, at, 'times that do not go back are expected');
    const known = lastModified !== undefined && lastModified > before && lastModified <= at;
    if (known && (changed || i === 0)) {
      exact++;
      freeTime += at - lastModified;
    } else if (i > 0 && at > before) {
      if (changed) changedGaps.push(at - before);
      else freeTime += at - before;
    }
  });
  const { rate, interval } = estimateRate({ changedGaps, freeTime, exact });
  // JSON knows no infinity: null where every look found a change, so that nothing bounds the rate from above.
  const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return { rate: finite(rate), interval: interval.map(finite) };
}
