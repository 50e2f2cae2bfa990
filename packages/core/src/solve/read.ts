/**
 * Reading a problem from outside. Each reader checks one field and, where it is wrong, gives up by throwing a `Refusal`
 * that names the field, its value and what is allowed; `solve` is the only place that catches it and turns it into an
 * outcome, so no other code sees an exception.
 */

export class Refusal extends Error {
  readonly field: string;
  readonly value: unknown;
  readonly allowed: string;

  constructor(field: string, value: unknown, allowed: string) {
    super(`${field}: ${shown(value)} is not allowed; ${allowed}`);
    this.field = field;
    this.value = value;
    this.allowed = allowed;
  }
}

/** A value as one short piece of text, however large or odd it is. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsAt(value: unknown, field: string): Fields {
  if (!isFields(value)) throw new Refusal(field, value, 'an object is expected');
  return value;
}

/** Refuses keys that nobody would read: a misspelt option must not be silently ignored. */
export function onlyKeys(fields: Fields, field: string, allowed: readonly string[]): void {
  for (const key of Object.keys(fields)) {
    if (!allowed.includes(key)) {
      throw new Refusal(field === '' ? key : `${field}.${key}`, fields[key], `known fields are ${allowed.join(', ')}`);
    }
  }
}

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** The bound itself is excluded. */
  readonly above?: number;
  readonly whole?: boolean;
}

function boundsText(bounds: Bounds): string {
  const parts = [bounds.whole ? 'a whole number' : 'a finite number'];
  if (bounds.above !== undefined) parts.push(`above ${bounds.above}`);
  if (bounds.min !== undefined) parts.push(`at least ${bounds.min}`);
  if (bounds.max !== undefined) parts.push(`at most ${bounds.max}`);
  return `${parts.join(', ')} is expected`;
}

export function numberAt(value: unknown, field: string, bounds: Bounds = {}): number {
  const good =
    typeof value === 'number' &&
    Number.isFinite(value) &&
    !(bounds.whole && !Number.isInteger(value)) &&
    !(bounds.above !== undefined && value <= bounds.above) &&
    !(bounds.min !== undefined && value < bounds.min) &&
    !(bounds.max !== undefined && value > bounds.max);
  if (!good) throw new Refusal(field, value, boundsText(bounds));
  return value;
}

export function listAt(value: unknown, field: string, lengthMin = 0): readonly unknown[] {
  if (!Array.isArray(value) || value.length < lengthMin) {
    throw new Refusal(
      field,
      value,
      lengthMin > 0 ? `a list of at least ${lengthMin} is expected` : 'a list is expected',
    );
  }
  return value;
}

export function numbersAt(value: unknown, field: string, bounds: Bounds = {}, lengthMin = 0): number[] {
  return listAt(value, field, lengthMin).map((entry, i) => numberAt(entry, `${field}[${i}]`, bounds));
}

export function choiceAt<const Choice extends string>(
  value: unknown,
  field: string,
  choices: readonly Choice[],
  otherwise?: Choice,
): Choice {
  if (value === undefined && otherwise !== undefined) return otherwise;
  const found = choices.find((choice) => choice === value);
  if (found === undefined)
    throw new Refusal(field, value, `one of ${choices.map((c) => `"${c}"`).join(', ')} is expected`);
  return found;
}
