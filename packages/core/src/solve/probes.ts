/** Looks as they are given: when, what was found, and the server's word. */
import { Refusal, fieldsAt, listAt, numberAt, onlyKeys } from './read.ts';

export interface Probe {
  readonly at: number;
  readonly changed: boolean;
  readonly lastModified: number | undefined;
  /** Where it stands in the problem. */
  readonly field: string;
}

export function probesAt(value: unknown, field: string): readonly Probe[] {
  const probes = listAt(value, field, 1).map((probe, i) => probeAt(probe, `${field}[${i}]`));
  probes.forEach(({ at, changed, field: place }, i) => {
    if (i === 0) return;
    if (at < probes[i - 1].at) throw new Refusal(`${place}.at`, at, 'times that do not go back are expected');
    // No rate, however high, finds a change in no time.
    if (changed && at === probes[i - 1].at)
      throw new Refusal(
        `${place}.changed`,
        changed,
        `false, or a time after that of the look before (${at}), is expected`,
      );
  });
  return probes;
}

function probeAt(value: unknown, field: string): Probe {
  const probe = fieldsAt(value, field);
  onlyKeys(probe, field, ['at', 'changed', 'lastModified']);
  const at = numberAt(probe['at'], `${field}.at`);
  const { changed } = probe;
  if (typeof changed !== 'boolean') throw new Refusal(`${field}.changed`, changed, 'true or false is expected');
  const modified = probe['lastModified'];
  const lastModified = modified === undefined ? undefined : numberAt(modified, `${field}.lastModified`);
  return { at, changed, lastModified, field };
}
