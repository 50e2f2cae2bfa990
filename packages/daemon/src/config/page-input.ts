/** A page as a person, a script or a config file writes it, into settings the daemon can keep. */
import { profileTrouble, weekSeconds } from '@revisit/core';
import { type NewPageSettings, type Select, usualSettings } from '../values/page.ts';
import { readScope } from '../values/scope.ts';
import { normaliseUrl, siteOf } from '../values/url.ts';
import type { Read } from './config.ts';
import { refused, refusedUnseen } from './refused.ts';
import { readRetention } from './retention.ts';
import { durationForm, durationMs } from './units.ts';

const expressionKinds = ['css', 'xpath', 'jsonpath', 'jq', 'regexp'] as const;
const parts = ['whole', 'text', 'main', 'links'] as const;

export const pageFields = [
  'url',
  'select',
  'title',
  'tags',
  'weight',
  'urgency',
  'life',
  'loss',
  'importance',
  'spacing',
  'headers',
  'render',
  'paused',
  'options',
] as const;

/** A selection written as one text: "css:h1", "main", "//h1", "$.items", or plainly a CSS selector. */
export function readSelect(value: unknown): Read<Select> {
  if (typeof value === 'string' && value.trim() !== '') return { kind: 'read', value: selectOf(value.trim()) };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const fields = value as Record<string, unknown>;
    if (typeof fields['kind'] === 'string') {
      const { kind, expression } = fields;
      const part = parts.find((name) => name === kind);
      if (part) return { kind: 'read', value: { kind: part } };
      const named = expressionKinds.find((name) => name === kind);
      if (named && typeof expression === 'string' && expression !== '')
        return { kind: 'read', value: { kind: named, expression } };
    }
    const keys = Object.keys(fields);
    if (keys.length === 1) {
      const named = expressionKinds.find((name) => name === keys[0]);
      const text = fields[keys[0]!];
      if (named && typeof text === 'string' && text !== '')
        return { kind: 'read', value: { kind: named, expression: text } };
      const part = keys[0] === 'part' ? parts.find((name) => name === text) : undefined;
      if (part) return { kind: 'read', value: { kind: part } };
    }
  }
  return refused(
    'select',
    value,
    `a CSS selector, one of ${parts.join(', ')}, or {css|xpath|jsonpath|jq|regexp: expression} is expected`,
  );
}

function selectOf(text: string): Select {
  const part = parts.find((name) => name === text);
  if (part) return { kind: part };
  const prefix = expressionKinds.find((name) => text.startsWith(`${name}:`));
  if (prefix) return { kind: prefix, expression: text.slice(prefix.length + 1).trim() };
  if (text.startsWith('/') || text.startsWith('(/')) return { kind: 'xpath', expression: text };
  if (text.startsWith('$')) return { kind: 'jsonpath', expression: text };
  return { kind: 'css', expression: text };
}

type PageImportance = NonNullable<NewPageSettings['importance']>;
type Reader = (value: unknown) => Read<Partial<NewPageSettings>>;

const read = (value: Partial<NewPageSettings>): Read<Partial<NewPageSettings>> => ({ kind: 'read', value });

/** More is no request that a server takes. */
const headersMax = 50;
const headerCharactersMax = 8_000;
/** What a connection says of itself is not a page's to say. */
const ownHeaders = new Set(
  'host connection content-length transfer-encoding keep-alive upgrade te trailer expect'.split(' '),
);

/** Refused here, where a person reads why, and not at every look. Values may be credentials: no sentence repeats them. */
export const readHeaders: Reader = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused('headers', value, 'an object of texts is expected');
  const given = Object.entries(value);
  if (given.length > headersMax) return refused('headers', given.length, `at most ${headersMax} are expected`);
  for (const [name, text] of given) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name))
      return refused('headers', name, "a name is made of letters, digits and !#$%&'*+-.^_`|~");
    if (ownHeaders.has(name.toLowerCase())) return refused('headers', name, 'the connection sets it itself');
    if (given.some(([other]) => other !== name && other.toLowerCase() === name.toLowerCase()))
      return refused('headers', name, 'each name is expected once, however it is written');
    const trouble = headerTrouble(text);
    if (trouble) return refusedUnseen(`headers.${name}`, ...trouble);
  }
  return read({ headers: value as Record<string, string> });
};

function headerTrouble(text: unknown): readonly [called: string, allowed: string] | undefined {
  if (typeof text !== 'string') return [`a value of type ${typeof text}`, 'a text is expected'];
  if (text.length > headerCharactersMax)
    return [`a value of ${text.length} characters`, `at most ${headerCharactersMax} are expected`];
  if (/[\r\n]/.test(text)) return ['a value with a line break', 'one line is expected'];
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    return ['a value with control characters or characters beyond Latin-1', 'letters, digits and signs are expected'];
  return undefined;
}

export const importanceForm =
  'a number of at least 0, or {breaks, values} with breaks in seconds from Monday 00:00 UTC over a week or a part that repeats within it, is expected';

function readImportance(value: unknown): Read<Partial<NewPageSettings>> {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return read({ importance: value });
  if (typeof value !== 'object' || value === null) return refused('importance', value, importanceForm);
  const { breaks, values, period } = value as Record<string, unknown>;
  if (!Array.isArray(breaks) || !Array.isArray(values)) return refused('importance', value, importanceForm);
  if (period !== undefined && typeof period !== 'number') return refused('importance.period', period, importanceForm);
  const trouble = profileTrouble(breaks as number[], values as number[], period);
  if (trouble)
    return refused(`importance.${trouble.field}`, { breaks, values, period }[trouble.field], trouble.allowed);
  const turns = weekSeconds / ((breaks.at(-1) as number) - (breaks[0] as number));
  if (Math.abs(turns - Math.round(turns)) > 1e-9 || turns < 0.5)
    return refused('importance.breaks', breaks, 'a span that divides a week (604800 seconds) is expected');
  return read({ importance: { breaks, values, ...(period === undefined ? {} : { period }) } as PageImportance });
}

const readers: Record<(typeof pageFields)[number], Reader> = {
  url: (value) => {
    if (typeof value !== 'string') return refused('url', value, 'an http or https address is expected');
    const normal = normaliseUrl(value);
    return normal.kind === 'url'
      ? read({ url: normal.url, site: siteOf(normal.host) })
      : { kind: 'wrong', sentence: normal.fault.sentence };
  },
  select: (value) => {
    const select = readSelect(value);
    return select.kind === 'read' ? read({ select: select.value }) : select;
  },
  title: (value) =>
    typeof value === 'string' ? read({ title: value }) : refused('title', value, 'a text is expected'),
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => typeof tag === 'string' && tag !== '')
      ? read({ tags: [...new Set(value as string[])] })
      : refused('tags', value, 'a list of texts is expected'),
  weight: (value) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0
      ? read({ weight: value })
      : refused('weight', value, 'a number above 0 is expected'),
  urgency: (value) =>
    lawOf('urgency', value, {
      uniform: undefined,
      decay: { name: 'rate', max: 1 },
      window: { name: 'width' },
      polynomial: { name: 'power' },
    }),
  life: (value) =>
    lawOf('life', value, {
      append: undefined,
      overwrite: undefined,
      window: { name: 'width' },
      changes: { name: 'count', min: 1, whole: true },
    }),
  loss: (value) =>
    value === 'obsolescence' || value === 'staleness'
      ? read({ loss: value })
      : refused('loss', value, '"obsolescence" or "staleness" is expected'),
  importance: readImportance,
  spacing: (value) => {
    const ms = typeof value === 'string' ? durationMs(value) : undefined;
    return ms === undefined ? refused('spacing', value, durationForm) : read({ spacingSeconds: ms / 1000 });
  },
  headers: readHeaders,
  render: (value) =>
    typeof value === 'boolean' ? read({ render: value }) : refused('render', value, 'true or false is expected'),
  paused: (value) =>
    typeof value === 'boolean' ? read({ paused: value }) : refused('paused', value, 'true or false is expected'),
  options: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refused('options', value, 'an object is expected');
    }
    const options = value as Record<string, unknown>;
    const scope = readScope(options['discover']);
    if (scope.kind === 'wrong') return { kind: 'wrong', sentence: `options.${scope.fault.sentence}` };
    const keep = options['keep'] === undefined ? undefined : readRetention(options['keep'], 'options.keep');
    return keep?.kind === 'wrong' ? keep : read({ options });
  },
};

/** The number that a law needs. */
interface Parameter {
  readonly name: string;
  readonly min?: number;
  readonly max?: number;
  readonly whole?: boolean;
}

function lawOf(
  field: 'urgency' | 'life',
  value: unknown,
  kinds: Record<string, Parameter | undefined>,
): Read<Partial<NewPageSettings>> {
  const fields = typeof value === 'string' ? { kind: value } : ((value ?? {}) as Record<string, unknown>);
  const kind = fields['kind'];
  const known = typeof kind === 'string' && Object.hasOwn(kinds, kind);
  const parameter = known ? kinds[kind] : undefined;
  const isRead = Object.keys(fields).every((key) => key === 'kind' || key === parameter?.name);
  const number = parameter && fields[parameter.name];
  if (!known || !isRead || (parameter && !isWithin(number, parameter))) {
    const forms = Object.entries(kinds).map(([name, extra]) =>
      extra ? `{kind: ${name}, ${extra.name}: ${rangeOf(extra)}}` : `{kind: ${name}}`,
    );
    return refused(field, value, `one of ${forms.join(', ')} is expected`);
  }
  return read({
    [field]: parameter ? { kind, [parameter.name]: number } : { kind },
  } as Partial<NewPageSettings>);
}

function isWithin(number: unknown, { min = 0, max = Infinity, whole = false }: Parameter): boolean {
  if (typeof number !== 'number' || !Number.isFinite(number)) return false;
  return number >= min && number <= max && (!whole || Number.isInteger(number));
}

function rangeOf({ min = 0, max, whole = false }: Parameter): string {
  const number = whole ? 'a whole number' : 'a number';
  return max === undefined ? `${number} from ${min}` : `${number} from ${min} to ${max}`;
}

/** Some fields of a page, as for a change of its settings. */
export function readPageFields(input: unknown): Read<Partial<NewPageSettings>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return refused('page', input, 'an object with a url is expected');
  let settings: Partial<NewPageSettings> = {};
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    const field = pageFields.find((name) => name === key);
    if (!field) return refused(key, value, `known fields are ${pageFields.join(', ')}`);
    const outcome = readers[field](value);
    if (outcome.kind === 'wrong') return outcome;
    settings = { ...settings, ...outcome.value };
  }
  return { kind: 'read', value: settings };
}

/** A whole page; everything but the URL has a default. */
export function readPage(input: unknown): Read<NewPageSettings> {
  const fields = readPageFields(input);
  if (fields.kind === 'wrong') return fields;
  const { url, site } = fields.value;
  if (url === undefined || site === undefined) return refused('url', undefined, 'an http or https address is expected');
  return {
    kind: 'read',
    value: { ...usualSettings, ...fields.value, url, site },
  };
}
