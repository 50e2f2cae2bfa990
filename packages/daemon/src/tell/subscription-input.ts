/** A subscription as a person writes it, checked field by field. */
import type { Deliver, Digest, QuietHours, SubscriptionSettings } from '../values/subscription.ts';
import { parseExpression } from './expression.ts';
import { templateWrong } from './template.ts';
import { isZone, minutesOf } from './when.ts';

export type ReadSubscription =
  | { readonly kind: 'read'; readonly settings: SubscriptionSettings }
  | { readonly kind: 'wrong'; readonly sentence: string };

type Fields = Readonly<Record<string, unknown>>;

class Wrong extends Error {}

function refuse(field: string, value: unknown, allowed: string): never {
  throw new Wrong(`${field}: ${JSON.stringify(value) ?? 'nothing'} is not allowed; ${allowed}`);
}

function object(value: unknown, field: string, known: readonly string[]): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    refuse(field, value, `an object with ${known.join(', ')} is expected`);
  const stranger = Object.keys(value).find((name) => !known.includes(name));
  if (stranger !== undefined)
    refuse(
      field === 'subscription' ? stranger : `${field}.${stranger}`,
      (value as Fields)[stranger],
      `known fields are ${known.join(', ')}`,
    );
  return value as Fields;
}

function text(fields: Fields, field: string, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.trim() === '') refuse(`${field}.${name}`, value, 'a text is expected');
  return value;
}

function address(fields: Fields, field: string, name: string): string {
  const value = text(fields, field, name);
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    refuse(`${field}.${name}`, value, 'an http or https URL is expected');
  return value;
}

function optional<T>(fields: Fields, name: string, read: () => T): T | undefined {
  return fields[name] === undefined ? undefined : read();
}

const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const kinds = ['webhook', 'email', 'ntfy', 'slack', 'discord', 'telegram', 'matrix', 'command'] as const;

/** `https://…` and `mailto:…` are short for a webhook and a letter. */
export function readDeliver(input: unknown): Deliver {
  if (typeof input === 'string') {
    if (/^mailto:/i.test(input)) return readDeliver({ kind: 'email', to: input.slice(7) });
    if (/^https?:/i.test(input)) return readDeliver({ kind: 'webhook', url: input });
    refuse('deliver', input, `a URL, mailto: or an object with kind ${kinds.join(', ')} is expected`);
  }
  const kind = (input as Fields | null)?.['kind'];
  const fields = (...known: string[]) => object(input, 'deliver', ['kind', ...known]);
  switch (kinds.find((known) => known === kind)) {
    case 'webhook': {
      const f = fields('url', 'secret', 'headers');
      const headers = optional(f, 'headers', () => headersOf(f['headers']));
      return given({
        kind: 'webhook' as const,
        url: address(f, 'deliver', 'url'),
        secret: optional(f, 'secret', () => text(f, 'deliver', 'secret')),
        headers,
      }) as Deliver;
    }
    case 'email': {
      const f = fields('to', 'from');
      const to = text(f, 'deliver', 'to');
      if (!/^[^\s@,]+@[^\s@,]+(,\s*[^\s@,]+@[^\s@,]+)*$/.test(to))
        refuse('deliver.to', to, 'an address such as me@example.org is expected');
      return given({
        kind: 'email' as const,
        to,
        from: optional(f, 'from', () => text(f, 'deliver', 'from')),
      }) as Deliver;
    }
    case 'ntfy': {
      const f = fields('url', 'token', 'priority');
      const priority = f['priority'];
      if (
        priority !== undefined &&
        !(Number.isInteger(priority) && (priority as number) >= 1 && (priority as number) <= 5)
      )
        refuse('deliver.priority', priority, 'a whole number from 1 to 5 is expected');
      return given({
        kind: 'ntfy' as const,
        url: address(f, 'deliver', 'url'),
        token: optional(f, 'token', () => text(f, 'deliver', 'token')),
        priority: priority as number | undefined,
      }) as Deliver;
    }
    case 'slack':
      return { kind: 'slack', url: address(fields('url'), 'deliver', 'url') };
    case 'discord':
      return { kind: 'discord', url: address(fields('url'), 'deliver', 'url') };
    case 'telegram': {
      const f = fields('token', 'chat', 'url');
      return given({
        kind: 'telegram' as const,
        token: text(f, 'deliver', 'token'),
        chat: typeof f['chat'] === 'number' ? String(f['chat']) : text(f, 'deliver', 'chat'),
        url: optional(f, 'url', () => address(f, 'deliver', 'url')),
      }) as Deliver;
    }
    case 'matrix': {
      const f = fields('url', 'room', 'token');
      return {
        kind: 'matrix',
        url: address(f, 'deliver', 'url'),
        room: text(f, 'deliver', 'room'),
        token: text(f, 'deliver', 'token'),
      };
    }
    case 'command': {
      const f = fields('command');
      const command = f['command'];
      if (
        !Array.isArray(command) ||
        command.length === 0 ||
        !command.every((word) => typeof word === 'string' && word !== '')
      )
        refuse('deliver.command', command, 'a list of words such as ["notify-send", "changed"] is expected');
      return { kind: 'command', command: command as string[] };
    }
    case undefined:
      return refuse('deliver.kind', kind, `${kinds.join(', ')} are known`);
  }
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  if (value === null || typeof value !== 'object') refuse('deliver.headers', value, 'an object of texts is expected');
  for (const [name, inner] of Object.entries(value))
    if (typeof inner !== 'string' || !/^[\w-]+$/.test(name) || /[\r\n]/.test(inner))
      refuse(`deliver.headers.${name}`, inner, 'a text of one line is expected');
  return value as Readonly<Record<string, string>>;
}

function readDigest(value: unknown): Digest {
  if (value === 'hourly') return { kind: 'hourly' };
  const times = value === 'daily' ? ['08:00'] : Array.isArray(value) ? (value as unknown[]) : [value];
  const at = times.map((time) =>
    typeof time === 'string' && minutesOf(time) !== undefined
      ? time
      : refuse('digest', value, 'hourly, daily, or times such as "08:00" are expected'),
  );
  if (at.length === 0) refuse('digest', value, 'at least one time is expected');
  return { kind: 'daily', at };
}

function readQuiet(value: unknown): QuietHours {
  const found = typeof value === 'string' ? /^(\S+)\s*[-–]\s*(\S+)$/.exec(value) : undefined;
  if (
    !found ||
    minutesOf(found[1]) === undefined ||
    minutesOf(found[2]) === undefined ||
    minutesOf(found[1]) === minutesOf(found[2])
  )
    refuse('quiet', value, 'hours such as "22:00-07:00" are expected');
  return { from: found![1], until: found![2] };
}

function readTemplate(value: unknown): { title?: string; body?: string } {
  const fields = object(value, 'template', ['title', 'body']);
  for (const name of ['title', 'body']) {
    if (fields[name] === undefined) continue;
    const wrong = templateWrong(text(fields, 'template', name));
    if (wrong) refuse(`template.${name}`, fields[name], wrong);
  }
  return fields as { title?: string; body?: string };
}

const known = ['name', 'match', 'deliver', 'digest', 'quiet', 'burstSeconds', 'zone', 'template', 'paused'];

export function readSubscription(input: unknown): ReadSubscription {
  try {
    const fields = object(input, 'subscription', known);
    const match = fields['match'] ?? '';
    if (typeof match !== 'string') refuse('match', match, 'an expression such as "site = example.com" is expected');
    const parsed = parseExpression(match);
    if (parsed.kind === 'wrong') throw new Wrong(`match: ${parsed.sentence}`);
    const zone = fields['zone'] ?? 'UTC';
    if (typeof zone !== 'string' || !isZone(zone))
      refuse('zone', zone, 'a time zone such as Europe/Vienna is expected');
    const burst = fields['burstSeconds'];
    if (burst !== undefined && !(typeof burst === 'number' && burst >= 0 && burst <= 86_400))
      refuse('burstSeconds', burst, 'a number from 0 to 86400 is expected');
    const paused = fields['paused'] ?? false;
    if (typeof paused !== 'boolean') refuse('paused', paused, 'true or false is expected');
    const settings = given({
      name: optional(fields, 'name', () => text(fields, 'subscription', 'name')),
      match,
      deliver: readDeliver(fields['deliver']),
      digest: optional(fields, 'digest', () => readDigest(fields['digest'])),
      quiet: optional(fields, 'quiet', () => readQuiet(fields['quiet'])),
      burstSeconds: burst,
      zone,
      template: optional(fields, 'template', () => readTemplate(fields['template'])),
      paused,
    }) as SubscriptionSettings;
    return { kind: 'read', settings };
  } catch (error) {
    if (error instanceof Wrong) return { kind: 'wrong', sentence: error.message };
    throw error;
  }
}

/** The same subscription as its user would write it, to be changed and read again. */
export function inputOf(settings: SubscriptionSettings): Record<string, unknown> {
  const { digest, quiet, ...rest } = settings;
  return {
    ...rest,
    ...(digest ? { digest: digest.kind === 'hourly' ? 'hourly' : digest.at } : {}),
    ...(quiet ? { quiet: `${quiet.from}-${quiet.until}` } : {}),
  };
}

const secrets = ['secret', 'token', 'headers'];

/** Paths, queries and names in addresses of receivers often are what opens them; the origin is not. */
function originOnly(url: string): string {
  const { origin, href } = new URL(url);
  return href === `${origin}/` ? url : `${origin}/…`;
}

/** For showing: what opens doors is named, not said; who may only read sees of addresses and commands where they lead. */
export function shownDeliver(deliver: Deliver, mayWrite: boolean): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...deliver };
  for (const name of secrets) if (name in shown) shown[name] = '(kept)';
  if (mayWrite) return shown;
  if ('url' in deliver && deliver.url !== undefined) shown['url'] = originOnly(deliver.url);
  if (deliver.kind === 'command') shown['command'] = [deliver.command[0], ...(deliver.command.length > 1 ? ['…'] : [])];
  return shown;
}
