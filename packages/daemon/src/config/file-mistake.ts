/** What zod finds wrong about a revisit.yaml, in the words of this house: where it stands, what was given, what is allowed. */
import type { z } from 'zod';
import { refused, refusedUnseen } from './refused.ts';

export interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly sentence: string;
}

/** These hold credentials, or may. */
const secrets = new Set<PropertyKey>(['headers', 'proxy', 'smtp', 'store', 'nats']);

const kindForms: Readonly<Record<string, string>> = {
  string: 'a text is expected',
  number: 'a number is expected',
  boolean: 'true or false is expected',
  array: 'a list is expected',
  object: 'settings by their names are expected',
  record: 'settings by their names are expected',
};

/** What is allowed, where the form of the file does not say it itself. */
export function allowedOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return kindForms[issue.expected];
  if (issue.code === 'invalid_value')
    return `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')} is expected`;
  if (issue.code === 'invalid_union') return 'a text, or settings by their names, is expected';
  return undefined;
}

export function mistakeOf(issue: z.core.$ZodIssue, file: unknown): Mistake {
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]!];
    return { path, sentence: `${path.map(String).join('.')} is not a known setting` };
  }
  const { path, message } = issue;
  const field = path.map(String).join('.') || 'the file';
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], file);
  if (path.some((key) => secrets.has(key))) return { path, ...refusedUnseen(field, 'its value', message) };
  // What is made of several values is long, and may hold secrets.
  if (Array.isArray(value)) return { path, ...refusedUnseen(field, 'a list', message) };
  if (typeof value === 'object' && value !== null)
    return { path, ...refusedUnseen(field, `{${Object.keys(value).join(', ')}}`, message) };
  return { path, ...refused(field, value, message) };
}
