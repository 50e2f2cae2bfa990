/**
 * Configuration is read once, into one frozen value: flags over `revisit.yaml` over defaults. Whatever is wrong is said in
 * one sentence with the line it stands on, before anything else happens.
 */
import { readFileSync } from 'node:fs';
import { policies } from '@revisit/core';
import { LineCounter, type Document, isNode, parseDocument } from 'yaml';
import { z } from 'zod';
import { hoursForm, parseHours } from '../values/hours.ts';
import { parseNetwork } from '../values/network.ts';
import type { Retention } from '../values/retention.ts';
import { readPage } from './page-input.ts';
import { durationForm, durationMs, rateForm, ratePerSecond } from './units.ts';

const duration = z.string().refine((text) => durationMs(text) !== undefined, { error: durationForm });
const rate = z.string().refine((text) => (ratePerSecond(text) ?? 0) > 0, { error: rateForm });

const portForm = 'a whole number from 0 to 65535 is expected';

const selectSchema = z
  .strictObject({
    css: z.string(),
    xpath: z.string(),
    jsonpath: z.string(),
    jq: z.string(),
    regexp: z.string(),
    part: z.enum(['whole', 'text', 'main', 'links']),
  })
  .partial()
  .refine((select) => Object.keys(select).length === 1, {
    error: 'exactly one of css, xpath, jsonpath, jq, regexp, part is expected',
  });

/** Laws by their kind; page-input.ts checks which kinds there are and what they need. */
const urgency = z.union([
  z.string(),
  z.looseObject({
    kind: z.string().describe('uniform, decay, window or polynomial'),
    rate: z.number().optional().describe('Of decay: what an hour leaves of the worth, from 0 to 1'),
    width: z.number().optional().describe('Of window: hours during which it is worth all, at least 0'),
    power: z.number().optional().describe('Of polynomial: worth (1 + hours) to the power of minus this, at least 0'),
  }),
]);

const life = z.union([
  z.string(),
  z.looseObject({
    kind: z.string().describe('append, window, changes or overwrite'),
    width: z.number().optional().describe('Of window: hours during which a change is shown, at least 0'),
    count: z.number().optional().describe('Of changes: gone after so many later changes, a whole number from 1'),
  }),
]);

const pageSchema = z.strictObject({
  url: z.string().describe('An http or https address'),
  select: z
    .union([z.string(), selectSchema])
    .optional()
    .describe('A CSS selector, or one of css, xpath, jsonpath, jq, regexp, part'),
  title: z.string().optional().describe('What to call it'),
  tags: z.array(z.string()).optional().describe('Labels to find it by'),
  weight: z.number().positive().optional().describe('How much a change of this page matters, relative to 1'),
  urgency: urgency
    .optional()
    .describe('What a change is still worth when it is captured late: uniform, decay, window or polynomial, in hours'),
  life: life.optional().describe('How long the page shows a change: append, window, changes or overwrite, in hours'),
  loss: z
    .enum(['obsolescence', 'staleness'])
    .optional()
    .describe('What counts: how long changes wait, or being out of date at all'),
  importance: z
    .union([
      z.number().min(0),
      z.strictObject({
        breaks: z.array(z.number()).describe('Seconds from Monday 00:00 UTC, ascending, over a week or a part of it'),
        values: z.array(z.number()).describe('What each stretch between two breaks counts'),
        period: z.number().optional().describe('The distance from the first break to the last, after which it repeats'),
      }),
    ])
    .optional()
    .describe('What being out of date costs at each time of the week, relative to 1'),
  spacing: duration.optional().describe('The least time between two looks at this page'),
  headers: z.record(z.string(), z.string()).optional().describe('Sent with each request; shown to nobody again'),
  render: z.boolean().optional().describe('Whether a browser draws the page before it is read'),
  paused: z.boolean().optional().describe('Kept, and not looked at'),
  options: z.record(z.string(), z.unknown()).optional().describe('How it is read, compared and told'),
});

const hours = z.string().refine((text) => parseHours(text) !== undefined, { error: hoursForm });
const network = z.string().refine((text) => parseNetwork(text).kind === 'network', {
  error: 'an address range such as 10.0.0.0/8 or ::1/128 is expected',
});
const publicUrl = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
  error: 'an address such as https://revisit.example.org is expected',
});

const proxy = z.string().refine((text) => /^(https?|socks5h?):$/.test(URL.parse(text)?.protocol ?? ''), {
  error: 'an address such as http://proxy:3128 or socks5://user:password@proxy:1080 is expected',
});

const siteSchema = z.strictObject({
  spacing: duration.optional().describe('The least time between two requests to this site'),
  connections: z
    .number()
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe('How many requests may be under way at this site at once; more than one only if its owner agrees'),
  atMost: rate.optional().describe('The most requests to this site, such as 100/day'),
  hours: z.array(hours).optional().describe('Visited only then, such as "mon-fri 08:00-18:00 Europe/Berlin"'),
  quiet: z.array(hours).optional().describe('Never visited then, such as "22:00-06:00"'),
  headers: z.record(z.string(), z.string()).optional().describe('Sent with every request to pages of this site'),
});

const policyName = z
  .string()
  .refine((name) => Object.hasOwn(policies, name), { error: `one of ${Object.keys(policies).join(', ')} is expected` });

const collectionSchema = z.strictObject({
  policy: policyName.optional().describe('How looks at these pages are planned'),
  budget: rate
    .optional()
    .describe('Requests for these pages alone; without it a share of the whole by number of pages'),
  weight: z.number().positive().optional().describe('Times the weight of each of these pages'),
  urgency: urgency.optional().describe('For pages that do not say: what a late capture is still worth'),
  life: life.optional().describe('For pages that do not say: how long a change is shown'),
  loss: z.enum(['obsolescence', 'staleness']).optional().describe('For pages that do not say: what counts'),
});

export const fileSchema = z.strictObject({
  data: z
    .string()
    .optional()
    .describe('The folder that holds all state; of a coordinator, where commands on its machine find it'),
  store: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'an address such as postgres://user:password@host/database is expected' })
    .optional()
    .describe('PostgreSQL instead of the data folder, shared by all coordinators of a cluster'),
  nats: z.string().optional().describe('NATS servers of a cluster, separated by commas; needs store'),
  natsKey: z.string().optional().describe('The file with this coordinator\'s key, as "revisit access" makes it'),
  natsCa: z.string().optional().describe('The file with the certificates of the NATS servers, for tls:// addresses'),
  natsReplicas: z
    .number()
    .int()
    .min(1)
    .max(5)
    .optional()
    .describe('How many NATS servers keep each message: 1, 3 or 5'),
  mandate: duration
    .optional()
    .describe('How long an observer of the cluster may look at its sites by itself when its link is lost, such as 10m'),
  lease: z
    .string()
    .refine((text) => (durationMs(text) ?? 0) >= 1_000, { error: 'a duration of at least 1s is expected, such as 4s' })
    .optional()
    .describe(
      'How long a coordinator or robot of the cluster may be silent before others take over its work, such as 4s; at least 1s',
    ),
  host: z.string().optional().describe('The address to listen on; beyond loopback a token is required'),
  port: z
    .number({ error: portForm })
    .int({ error: portForm })
    .min(0, { error: portForm })
    .max(65_535, { error: portForm })
    .optional()
    .describe('Where API and dashboard listen; 0 takes any free port'),
  budget: rate.optional().describe('How many requests may be made over all pages, such as 600/hour'),
  spacing: duration.optional().describe('The least time between two requests to one site, such as 2s'),
  robots: z.number().int().min(1).max(10_000).optional().describe('The most requests that may be under way at once'),
  robotsMin: z
    .number()
    .int()
    .min(0)
    .max(10_000)
    .optional()
    .describe(
      'How many may be under way however full the queue is; between it and robots the number follows the queue',
    ),
  queue: z.number().int().min(2).max(1_000_000).optional().describe('How many answers may wait for detection'),
  policy: z.string().optional().describe('How looks are planned; docs/policies.md tells which fits'),
  collections: z
    .record(z.string(), collectionSchema)
    .optional()
    .describe('Pages by tag, planned by a policy of their own; a page with several such tags belongs to the first'),
  allowNetwork: z.array(network).optional().describe('Private networks that may be visited, as CIDR'),
  contact: z.string().optional().describe('How site owners reach you; part of the user agent'),
  publicUrl: publicUrl
    .optional()
    .describe('Where this daemon is reached from outside; hubs (WebSub) then tell of changes'),
  proxy: proxy.optional().describe('Requests go through this: http, https, socks5 or socks5h (names looked up there)'),
  chromium: z.string().optional().describe('The browser for pages that need one, if it is not found by itself'),
  sites: z
    .record(z.string(), siteSchema)
    .optional()
    .describe('Rules for single sites, by registrable domain such as example.org, or by host where there is none'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional().describe('How much is logged on stderr'),
  smtp: z
    .string()
    .refine((text) => /^smtps?:$/.test(URL.parse(text)?.protocol ?? ''), {
      error: 'an address such as smtps://user:password@mail.example.org is expected',
    })
    .optional()
    .describe('Where letters are handed in, such as smtps://user:password@mail.example.org'),
  mailFrom: z.string().optional().describe('The sender of letters'),
  quiet: z.array(hours).optional().describe('Hours in which nothing is asked for, such as "22:00-06:00 Europe/Berlin"'),
  allowCommands: z.boolean().optional().describe('Whether subscriptions may start programs on this machine'),
  keep: z
    .strictObject({
      age: duration.optional().describe('Versions older than this go'),
      count: z.number().int().min(1).optional().describe('At most so many versions of a page'),
      bytes: z.number().int().min(1).optional().describe('At most so many bytes, as kept, for the versions of a page'),
      looks: duration.optional().describe('Looks older than this are forgotten; what was learned from them is not'),
    })
    .optional()
    .describe('How much of the past is kept; the last version always is'),
  pages: z.array(pageSchema).optional().describe('What is watched from the start; pages added later stay too'),
});

export type ConfigFile = z.infer<typeof fileSchema>;
export type ConfigSite = z.infer<typeof siteSchema>;
export type ConfigCollection = z.infer<typeof collectionSchema>;
export type ConfigPage = z.infer<typeof pageSchema>;

export interface Config {
  readonly data: string;
  /** Whether somebody named it, or it is only where state usually is. */
  readonly dataNamed: boolean;
  readonly store: string | undefined;
  readonly nats: string | undefined;
  readonly natsKey: string | undefined;
  readonly natsCa: string | undefined;
  readonly natsReplicas: number;
  readonly mandateMs: number;
  readonly leaseMs: number;
  readonly host: string;
  readonly port: number;
  readonly looksPerSecond: number;
  readonly spacingMs: number;
  readonly robots: number;
  readonly robotsMin: number;
  readonly queueMax: number;
  readonly policy: string;
  readonly collections: Readonly<Record<string, ConfigCollection>>;
  readonly allowNetwork: readonly string[];
  readonly contact: string | undefined;
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly proxy: string | undefined;
  readonly chromium: string | undefined;
  readonly sites: Readonly<Record<string, ConfigSite>>;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly smtp: string | undefined;
  readonly mailFrom: string | undefined;
  readonly quiet: readonly string[];
  readonly allowCommands: boolean;
  readonly keep: Retention;
  readonly pages: readonly ConfigPage[];
}

export type Read<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'wrong'; readonly sentence: string };

/** The line on which the value at this path stands; the closest one above it that has a place, for a missing value. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length) as unknown[], true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function issueSentence(issue: z.core.$ZodIssue): { path: PropertyKey[]; sentence: string } {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : [...issue.path];
  const field = path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') return { path, sentence: `${field} is not a known setting` };
  return { path, sentence: `${field}: ${issue.message}` };
}

/** The first page that could not be watched, with the place of what is wrong about it. */
function pageMistake(file: ConfigFile): { path: PropertyKey[]; sentence: string } | undefined {
  for (const [i, input] of (file.pages ?? []).entries()) {
    const page = readPage(input);
    if (page.kind === 'read') continue;
    const field = /^[a-z]+/i.exec(page.sentence)?.[0] ?? '';
    return { path: ['pages', i, field in input ? field : 'url'], sentence: `pages.${i}: ${page.sentence}` };
  }
  return undefined;
}

/** Checks the text of a config file. `name` is what the sentence calls it. */
export function readConfigText(text: string, name: string): Read<ConfigFile> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors[0];
  if (broken) return { kind: 'wrong', sentence: `${name}:${lines.linePos(broken.pos[0]).line}: ${broken.message}` };
  const plain: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const checked = fileSchema.safeParse(plain);
  const found = checked.success ? pageMistake(checked.data) : issueSentence(checked.error.issues[0]!);
  if (!found) return { kind: 'read', value: checked.data! };
  return { kind: 'wrong', sentence: `${name}:${lineOf(document, lines, found.path)}: ${found.sentence}` };
}

export function readConfigFile(file: string): Read<ConfigFile> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return {
      kind: 'wrong',
      sentence: `${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
    };
  }
  return readConfigText(text, file);
}

/** Flags as the command line gives them: texts, checked here like the file's. */
export interface Flags {
  readonly store?: string;
  readonly nats?: string;
  readonly natsKey?: string;
  readonly natsCa?: string;
  readonly mandate?: string;
  readonly lease?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: string;
  readonly budget?: string;
  readonly spacing?: string;
  readonly policy?: string;
  readonly allowNetwork?: readonly string[];
  readonly contact?: string;
  readonly logLevel?: string;
}

export function settle(file: ConfigFile, flags: Flags): Read<Config> {
  const given = Object.fromEntries(
    Object.entries({ ...flags, port: flags.port === undefined ? undefined : Number(flags.port) }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const checked = fileSchema.safeParse({ ...file, ...given });
  if (!checked.success) {
    const { path, sentence } = issueSentence(checked.error.issues[0]!);
    const flag = String(path[0]).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const value = (flags as Record<string, unknown>)[String(path[0])];
    return { kind: 'wrong', sentence: `--${flag} ${String(value)}: ${sentence.replace(/^[^:]*: /, '')}` };
  }
  const all = checked.data;
  if ((all.robotsMin ?? 0) > (all.robots ?? 64)) {
    return {
      kind: 'wrong',
      sentence: `robotsMin: ${all.robotsMin} is more than robots, which is ${all.robots ?? 64}`,
    };
  }
  const granted = Object.values(all.collections ?? {}).reduce(
    (sum, { budget }) => sum + (ratePerSecond(budget ?? '') ?? 0),
    0,
  );
  if (granted > ratePerSecond(all.budget ?? '600/hour')! * (1 + 1e-9)) {
    return {
      kind: 'wrong',
      sentence: `collections: their budgets add up to more than budget, which is ${all.budget ?? '600/hour'}`,
    };
  }
  const value: Config = {
    data: all.data ?? './revisit-data',
    dataNamed: all.data !== undefined,
    store: all.store,
    nats: all.nats,
    natsKey: all.natsKey,
    natsCa: all.natsCa,
    natsReplicas: all.natsReplicas ?? 1,
    mandateMs: durationMs(all.mandate ?? '10m')!,
    leaseMs: durationMs(all.lease ?? '4s')!,
    host: all.host ?? '127.0.0.1',
    port: all.port ?? 7373,
    looksPerSecond: ratePerSecond(all.budget ?? '600/hour')!,
    spacingMs: durationMs(all.spacing ?? '2s')!,
    robots: all.robots ?? 64,
    robotsMin: all.robotsMin ?? 0,
    queueMax: all.queue ?? 4_096,
    policy: all.policy ?? 'revisit',
    collections: all.collections ?? {},
    allowNetwork: all.allowNetwork ?? [],
    contact: all.contact,
    publicUrl: all.publicUrl?.replace(/\/+$/, ''),
    proxy: all.proxy,
    chromium: all.chromium,
    sites: all.sites ?? {},
    logLevel: all.logLevel ?? 'info',
    smtp: all.smtp,
    mailFrom: all.mailFrom,
    quiet: all.quiet ?? [],
    allowCommands: all.allowCommands ?? false,
    keep: {
      ...(all.keep?.age === undefined ? {} : { ageMsMax: durationMs(all.keep.age)! }),
      ...(all.keep?.count === undefined ? {} : { countMax: all.keep.count }),
      ...(all.keep?.bytes === undefined ? {} : { bytesMax: all.keep.bytes }),
      ...(all.keep?.looks === undefined ? {} : { looksAgeMsMax: durationMs(all.keep.looks)! }),
    },
    pages: all.pages ?? [],
  };
  return { kind: 'read', value: Object.freeze(value) };
}

/** For editors: what a revisit.yaml may contain. */
export function jsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(fileSchema, { io: 'input' }) as Record<string, unknown>;
}
