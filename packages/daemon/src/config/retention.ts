/** How much of a page's past is kept, as people write it: {age: 90d, count: 100, bytes: 1000000}. */
import type { Retention } from '../values/retention.ts';
import type { Read } from './config.ts';
import { durationForm, durationMs } from './units.ts';

const names = ['age', 'count', 'bytes'];

/** An empty object keeps everything. */
export function readRetention(value: unknown, field: string): Read<Retention> {
  const wrong = (name: string, given: unknown, allowed: string): Read<Retention> => ({
    kind: 'wrong',
    sentence: `${name}: ${JSON.stringify(given) ?? 'nothing'} is not allowed; ${allowed}`,
  });
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong(field, value, `an object with ${names.join(', ')} is expected`);
  const stranger = Object.keys(value).find((name) => !names.includes(name));
  if (stranger !== undefined)
    return wrong(`${field}.${stranger}`, (value as never)[stranger], `known are ${names.join(', ')}`);
  const { age, count, bytes } = value as Record<string, unknown>;
  const ageMsMax = typeof age === 'string' ? durationMs(age) : undefined;
  if (age !== undefined && ageMsMax === undefined) return wrong(`${field}.age`, age, durationForm);
  for (const [name, number] of [
    ['count', count],
    ['bytes', bytes],
  ] as const)
    if (number !== undefined && !(Number.isInteger(number) && (number as number) >= 1))
      return wrong(`${field}.${name}`, number, 'a whole number from 1 on is expected');
  return {
    kind: 'read',
    value: {
      ...(ageMsMax === undefined ? {} : { ageMsMax }),
      ...(count === undefined ? {} : { countMax: count as number }),
      ...(bytes === undefined ? {} : { bytesMax: bytes as number }),
    },
  };
}
