/** What a page's options say to this stage, read once and checked: a wrong one is named with what is allowed. */
import type { Attributes } from './text.ts';
import { compilePattern } from './pattern.ts';

export interface NormaliseRules {
  /** Runs of white space count as one space, and empty lines as none. */
  readonly whitespace: boolean;
  readonly case: 'keep' | 'fold';
  /** `sort` compares lines without regard to their order. */
  readonly order: 'keep' | 'sort';
  readonly attributes: Attributes;
  /** CSS selectors of parts taken out before anything is selected. */
  readonly remove: readonly string[];
  /** Dates and times, or all numbers, count as equal. */
  readonly dates: 'keep' | 'ignore';
  readonly numbers: 'keep' | 'ignore';
  /** Lines that match one of these are left out. */
  readonly ignore: readonly RegExp[];
  readonly replace: readonly { readonly pattern: RegExp; readonly with: string }[];
  /** Keep utm_source and the like in links. */
  readonly tracking: boolean;
  /** Keep what its markup calls an advertisement. */
  readonly advertisements: boolean;
}

/** What must be met before a change is told, measured against the last version that was told. */
export interface TellConditions {
  readonly charactersMin?: number;
  readonly percentMin?: number;
  readonly appears?: RegExp;
  readonly disappears?: RegExp;
  readonly above?: number;
  readonly below?: number;
  readonly movesPercent?: number;
  readonly only?: 'additions' | 'removals';
  readonly confirmAfterSeconds?: number;
}

export interface DetectOptions {
  readonly as?: 'text' | 'html' | 'number';
  readonly normalise: NormaliseRules;
  readonly tell: TellConditions;
  readonly noise: 'auto' | 'off';
  /** Which field tells items apart, whether items that went are told, or no items at all. */
  readonly items: { readonly key?: string; readonly removed?: boolean } | false;
  readonly keepRaw: boolean;
}

export type ReadOptions = { readonly kind: 'read'; readonly options: DetectOptions } | WrongOption;
export interface WrongOption {
  readonly kind: 'wrong';
  readonly field: string;
  readonly value: unknown;
  readonly allowed: string;
}

class Wrong extends Error {
  readonly option: WrongOption;
  constructor(field: string, value: unknown, allowed: string) {
    super(field);
    this.option = { kind: 'wrong', field, value, allowed };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function object(value: unknown, field: string, known: readonly string[]): Fields {
  if (value === undefined) return {};
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Wrong(field, value, `an object with ${known.join(', ')}`);
  const stranger = Object.keys(value).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new Wrong(`${field}.${stranger}`, (value as Fields)[stranger], `only ${known.join(', ')} in ${field}`);
  return value as Fields;
}

function choice<const T extends string>(
  fields: Fields,
  field: string,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const found = allowed.find((word) => word === value);
  if (found === undefined) throw new Wrong(`${field}${name}`, value, allowed.join(' or '));
  return found;
}

function flag(fields: Fields, field: string, name: string): boolean | undefined {
  const value = fields[name];
  if (value !== undefined && typeof value !== 'boolean') throw new Wrong(`${field}${name}`, value, 'true or false');
  return value as boolean | undefined;
}

function number(fields: Fields, field: string, name: string, min = -Infinity): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min)
    throw new Wrong(`${field}${name}`, value, min === -Infinity ? 'a number' : `a number from ${min}`);
  return value;
}

function pattern(value: unknown, field: string): RegExp {
  if (typeof value !== 'string' || value === '') throw new Wrong(field, value, 'a regular expression as text');
  const compiled = compilePattern(value);
  if (!(compiled instanceof RegExp)) throw new Wrong(field, value, `a regular expression (${compiled.wrong})`);
  return compiled;
}

function list(fields: Fields, field: string, name: string): readonly unknown[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value)) throw new Wrong(`${field}${name}`, value, 'a list');
  return value as readonly unknown[];
}

function readNormalise(value: unknown): NormaliseRules {
  const field = 'normalise.';
  const fields = object(value, 'normalise', [
    'whitespace',
    'case',
    'order',
    'attributes',
    'remove',
    'dates',
    'numbers',
    'ignore',
    'replace',
    'tracking',
    'advertisements',
  ]);
  return {
    whitespace: flag(fields, field, 'whitespace') ?? true,
    case: choice(fields, field, 'case', ['keep', 'fold']) ?? 'keep',
    order: choice(fields, field, 'order', ['keep', 'sort']) ?? 'keep',
    attributes: choice(fields, field, 'attributes', ['meaning', 'all', 'none']) ?? 'meaning',
    remove: list(fields, field, 'remove').map((selector, index) => {
      if (typeof selector !== 'string' || selector === '')
        throw new Wrong(`normalise.remove[${index}]`, selector, 'a CSS selector');
      return selector;
    }),
    dates: choice(fields, field, 'dates', ['keep', 'ignore']) ?? 'keep',
    numbers: choice(fields, field, 'numbers', ['keep', 'ignore']) ?? 'keep',
    ignore: list(fields, field, 'ignore').map((line, index) => pattern(line, `normalise.ignore[${index}]`)),
    replace: list(fields, field, 'replace').map((rule, index) => {
      const place = `normalise.replace[${index}]`;
      const inner = object(rule, place, ['pattern', 'with']);
      const replacement = inner['with'] ?? '';
      if (typeof replacement !== 'string') throw new Wrong(`${place}.with`, replacement, 'text');
      return { pattern: pattern(inner['pattern'], `${place}.pattern`), with: replacement };
    }),
    tracking: flag(fields, field, 'tracking') ?? false,
    advertisements: flag(fields, field, 'advertisements') ?? false,
  };
}

function readTell(value: unknown): TellConditions {
  const field = 'tell.';
  const fields = object(value, 'tell', [
    'charactersMin',
    'percentMin',
    'appears',
    'disappears',
    'above',
    'below',
    'movesPercent',
    'only',
    'confirmAfterSeconds',
  ]);
  const known = {
    charactersMin: number(fields, field, 'charactersMin', 0),
    percentMin: number(fields, field, 'percentMin', 0),
    appears: fields['appears'] === undefined ? undefined : pattern(fields['appears'], 'tell.appears'),
    disappears: fields['disappears'] === undefined ? undefined : pattern(fields['disappears'], 'tell.disappears'),
    above: number(fields, field, 'above'),
    below: number(fields, field, 'below'),
    movesPercent: number(fields, field, 'movesPercent', 0),
    only: choice(fields, field, 'only', ['additions', 'removals']),
    confirmAfterSeconds: number(fields, field, 'confirmAfterSeconds', 0),
  };
  return Object.fromEntries(Object.entries(known).filter(([, inner]) => inner !== undefined));
}

function readItemRules(value: unknown): DetectOptions['items'] {
  if (value === false) return false;
  const fields = object(value, 'items', ['key', 'removed']);
  const key = fields['key'];
  if (key !== undefined && (typeof key !== 'string' || key === ''))
    throw new Wrong('items.key', key, 'the name of a field');
  const removed = flag(fields, 'items.', 'removed');
  return { ...(key === undefined ? {} : { key: key as string }), ...(removed === undefined ? {} : { removed }) };
}

/** Options of other stages are left alone: only the names this stage knows are read. */
export function readOptions(options: Fields): ReadOptions {
  try {
    const as = choice(options, '', 'as', ['text', 'html', 'number']);
    return {
      kind: 'read',
      options: {
        ...(as ? { as } : {}),
        normalise: readNormalise(options['normalise']),
        tell: readTell(options['tell']),
        noise: choice(options, '', 'noise', ['auto', 'off']) ?? 'auto',
        items: readItemRules(options['items']),
        keepRaw: flag(options, '', 'keepRaw') ?? false,
      },
    };
  } catch (error) {
    if (error instanceof Wrong) return error.option;
    throw error;
  }
}
