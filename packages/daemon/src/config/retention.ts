/** How much of a page's past is kept, as people write it: {age: 90d, count: 100, bytes: 1000000, looks: 400d}. */
import type { Retention } from '../values/retention.ts';
import type { Read } from './config.ts';
import { refused } from './refused.ts';
import { durationForm, durationMs } from './units.ts';

const names = ['age', 'count', 'bytes', 'looks'];

/** An empty object keeps everything. */
export function readRetention(value: unknown, field: string): Read<Retention> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused(field, value, `an object with ${names.join(', ')} is expected`);
  const stranger = Object.keys(value).find((name) => !names.includes(name));
  if (stranger !== undefined)
    return refused(`${field}.${stranger}`, (value as never)[stranger], `known are ${names.join(', ')}`);
  const { age, count, bytes, looks } = value as Record<string, unknown>;
  const spans: Partial<Record<'age' | 'looks', number>> = {};
  for (const [name, span] of [
    ['age', age],
    ['looks', looks],
  ] as const) {
    if (span === undefined) continue;
    const ms = typeof span === 'string' ? durationMs(span) : undefined;
    if (ms === undefined) return refused(`${field}.${name}`, span, durationForm);
    spans[name] = ms;
  }
  for (const [name, number] of [
    ['count', count],
    ['bytes', bytes],
  ] as const)
    if (number !== undefined && !(Number.isInteger(number) && (number as number) >= 1))
      return refused(`${field}.${name}`, number, 'a whole number from 1 on is expected');
  return {
    kind: 'read',
    value: {
      ...(spans.age === undefined ? {} : { ageMsMax: spans.age }),
      ...(count === undefined ? {} : { countMax: count as number }),
      ...(bytes === undefined ? {} : { bytesMax: bytes as number }),
      ...(spans.looks === undefined ? {} : { looksAgeMsMax: spans.looks }),
    },
  };
}
