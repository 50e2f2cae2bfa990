/**
 * Configuration is read once, into one frozen value: flags over `revisit.yaml` over defaults. Whatever is wrong is said in
 * one sentence with the line it stands on, before anything else happens.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { LineCounter, type Document, isNode, parseDocument } from 'yaml';
import type { Retention } from '../values/retention.ts';
import { type ConfigCollection, type ConfigFile, type ConfigPage, type ConfigSite, fileSchema } from './file-form.ts';
import { type Mistake, allowedOf, mistakeOf } from './file-mistake.ts';
import { readPage } from './page-input.ts';
import { quietMistake, siteMistake } from './site-rules.ts';
import { durationMs, rateParts, ratePerSecond } from './units.ts';

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
  /** The period that the budget is written for: within it busy hours may borrow from quiet ones. */
  readonly budgetSeconds: number;
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
  /** How long messages that have come to an end are remembered. */
  readonly settledMsMax: number;
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

/** The first page that could not be watched, with the place of what is wrong about it. */
function pageMistake(file: ConfigFile): Mistake | undefined {
  const known = new Map<string, { readonly at: number; readonly page: unknown }>();
  for (const [i, input] of (file.pages ?? []).entries()) {
    const page = readPage(input);
    if (page.kind === 'read') {
      const { url, select } = page.value;
      const key = JSON.stringify([url, select]);
      const first = known.get(key);
      known.set(key, first ?? { at: i, page: page.value });
      // The second would be dropped without a word, and with it what it says.
      if (!first || isDeepStrictEqual(first.page, page.value)) continue;
      return {
        path: ['pages', i, 'url'],
        sentence: `pages.${i}: ${url} is pages.${first.at} once more, with other settings; once is expected`,
      };
    }
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
  const checked = fileSchema.safeParse(plain, { error: allowedOf });
  const found = checked.success
    ? (quietMistake(['quiet'], checked.data.quiet) ??
      siteMistake(checked.data.sites ?? {}) ??
      pageMistake(checked.data))
    : mistakeOf(checked.error.issues[0]!, plain);
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
  const checked = fileSchema.safeParse({ ...file, ...given }, { error: allowedOf });
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    const flag = String(path[0]).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const value = String((flags as Record<string, unknown>)[String(path[0])]);
    // A terminal does what control characters say.
    const shown = /\p{Cc}/u.test(value) ? JSON.stringify(value) : value;
    return { kind: 'wrong', sentence: `--${flag} ${shown}: ${message}` };
  }
  const all = checked.data;
  const needed = [
    ['lease', flags.lease, all.store, 'store'],
    ['mandate', flags.mandate, all.nats, 'nats'],
    ['nats-key', flags.natsKey, all.nats, 'nats'],
    ['nats-ca', flags.natsCa, all.nats, 'nats'],
  ] as const;
  for (const [flag, said, need, name] of needed)
    if (said !== undefined && need === undefined)
      return { kind: 'wrong', sentence: `--${flag} ${said}: is of a cluster, and --${name} is not given` };
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
    budgetSeconds: rateParts(all.budget ?? '600/hour')!.periodMs / 1000,
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
    settledMsMax: durationMs(all.keep?.deliveries ?? '90d')!,
    pages: all.pages ?? [],
  };
  return { kind: 'read', value: Object.freeze(value) };
}
