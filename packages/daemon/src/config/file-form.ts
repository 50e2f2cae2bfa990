/** What a revisit.yaml may contain, each value checked for itself; how they are read and settled is in `config.ts`. */
import { policies } from '@revisit/core';
import { z } from 'zod';
import { hoursForm, parseHours } from '../values/hours.ts';
import { parseNetwork } from '../values/network.ts';
import { importanceForm } from './page-input.ts';
import { durationForm, durationMs, rateForm, ratePerSecond } from './units.ts';

/** Whatever is wrong about a value, its form is what is said to be allowed; `file-mistake.ts` adds the field and the value. */
const textOf = (error: string, isFit: (text: string) => boolean) => z.string({ error }).refine(isFit, { error });
const isAt = (text: string, schemes: RegExp) => schemes.test(URL.parse(text)?.protocol ?? '');

const duration = textOf(durationForm, (text) => durationMs(text) !== undefined);
const rate = textOf(rateForm, (text) => (ratePerSecond(text) ?? 0) > 0);

function whole(min: number, max?: number) {
  const error = `a whole number from ${min} ${max === undefined ? 'on' : `to ${max}`} is expected`;
  const number = z.number({ error }).int({ error }).min(min, { error });
  return max === undefined ? number : number.max(max, { error });
}

const weightForm = 'a number above 0 is expected';
const weight = z.number({ error: weightForm }).positive({ error: weightForm });

const selectForm = 'a CSS selector, or exactly one of css, xpath, jsonpath, jq, regexp, part is expected';
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
  .refine((select) => Object.keys(select).length === 1, { error: selectForm });

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
    .union([z.string(), selectSchema], { error: selectForm })
    .optional()
    .describe('A CSS selector, or one of css, xpath, jsonpath, jq, regexp, part'),
  title: z.string().optional().describe('What to call it'),
  tags: z.array(z.string()).optional().describe('Labels to find it by'),
  weight: weight.optional().describe('How much a change of this page matters, relative to 1'),
  urgency: urgency
    .optional()
    .describe('What a change is still worth when it is captured late: uniform, decay, window or polynomial, in hours'),
  life: life.optional().describe('How long the page shows a change: append, window, changes or overwrite, in hours'),
  loss: z
    .enum(['obsolescence', 'staleness'])
    .optional()
    .describe('What counts: how long changes wait, or being out of date at all'),
  importance: z
    .union(
      [
        z.number().min(0, { error: importanceForm }),
        z.strictObject({
          breaks: z.array(z.number()).describe('Seconds from Monday 00:00 UTC, ascending, over a week or a part of it'),
          values: z.array(z.number()).describe('What each stretch between two breaks counts'),
          period: z
            .number()
            .optional()
            .describe('The distance from the first break to the last, after which it repeats'),
        }),
      ],
      { error: importanceForm },
    )
    .optional()
    .describe('What being out of date costs at each time of the week, relative to 1'),
  spacing: duration.optional().describe('The least time between two looks at this page'),
  headers: z.record(z.string(), z.string()).optional().describe('Sent with each request; shown to nobody again'),
  render: z
    .boolean()
    .optional()
    .describe('Whether a browser draws the page before it is read, with its frames and shadow roots'),
  paused: z.boolean().optional().describe('Kept, and not looked at'),
  options: z.record(z.string(), z.unknown()).optional().describe('How it is read, compared and told'),
});

const hours = textOf(hoursForm, (text) => parseHours(text) !== undefined);
const network = textOf(
  'an address range such as 10.0.0.0/8 or ::1/128 is expected',
  (text) => parseNetwork(text).kind === 'network',
);
const contact = textOf(
  'one line without control characters is expected',
  (text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text),
);
const publicUrl = textOf('an address such as https://revisit.example.org is expected', (text) =>
  isAt(text, /^https?:$/),
);
const proxy = textOf('an address such as http://proxy:3128 or socks5://user:password@proxy:1080 is expected', (text) =>
  isAt(text, /^(https?|socks5h?):$/),
);
const smtp = textOf('an address such as smtps://user:password@mail.example.org is expected', (text) =>
  isAt(text, /^smtps?:$/),
);
const lease = textOf(
  'a duration from 1s to 1h is expected, such as 4s',
  (text) => (durationMs(text) ?? 0) >= 1_000 && durationMs(text)! <= 3_600_000,
);

const siteSchema = z.strictObject({
  spacing: duration.optional().describe('The least time between two requests to this site'),
  connections: whole(1, 64)
    .optional()
    .describe('How many requests may be under way at this site at once; more than one only if its owner agrees'),
  atMost: rate.optional().describe('The most requests to this site, such as 100/day'),
  hours: z.array(hours).optional().describe('Visited only then, such as "mon-fri 08:00-18:00 Europe/Berlin"'),
  quiet: z.array(hours).optional().describe('Never visited then, such as "22:00-06:00"'),
  headers: z.record(z.string(), z.string()).optional().describe('Sent with every request to pages of this site'),
});

const policyName = textOf(`one of ${Object.keys(policies).join(', ')} is expected`, (name) =>
  Object.hasOwn(policies, name),
);

const collectionSchema = z.strictObject({
  policy: policyName.optional().describe('How looks at these pages are planned'),
  budget: rate
    .optional()
    .describe('Requests for these pages alone; without it a share of the whole by number of pages'),
  weight: weight.optional().describe('Times the weight of each of these pages'),
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
    .literal([1, 3, 5], { error: '1, 3 or 5 is expected' })
    .optional()
    .describe('How many NATS servers keep each message: 1, 3 or 5'),
  mandate: duration
    .optional()
    .describe('How long an observer of the cluster may look at its sites by itself when its link is lost, such as 10m'),
  lease: lease
    .optional()
    .describe(
      'How long a coordinator or robot of the cluster may be silent before others take over its work, such as 4s; from 1s to 1h',
    ),
  host: z.string().optional().describe('The address to listen on; beyond loopback a token is required'),
  port: whole(0, 65_535).optional().describe('Where API and dashboard listen; 0 takes any free port'),
  budget: rate
    .optional()
    .describe(
      'How many requests may be made over all pages, such as 600/hour. They leave evenly over an hour; what is not used of 2000/day or 500/week may be used later in the day or week',
    ),
  spacing: duration.optional().describe('The least time between two requests to one site, such as 2s'),
  robots: whole(1, 10_000).optional().describe('The most requests that may be under way at once'),
  robotsMin: whole(0, 10_000)
    .optional()
    .describe(
      'How many may be under way however full the queue is; between it and robots the number follows the queue',
    ),
  queue: whole(2, 1_000_000).optional().describe('How many answers may wait for detection'),
  policy: z.string().optional().describe('How looks are planned; docs/policies.md tells which fits'),
  collections: z
    .record(z.string(), collectionSchema)
    .optional()
    .describe('Pages by tag, planned by a policy of their own; a page with several such tags belongs to the first'),
  allowNetwork: z.array(network).optional().describe('Private networks that may be visited, as CIDR'),
  contact: contact.optional().describe('How site owners reach you; part of the user agent'),
  publicUrl: publicUrl
    .optional()
    .describe(
      'Where this daemon is reached from outside; hubs (WebSub) then tell of changes; the same for all coordinators of a cluster',
    ),
  proxy: proxy.optional().describe('Requests go through this: http, https, socks5 or socks5h (names looked up there)'),
  chromium: z.string().optional().describe('The browser for pages that need one, if it is not found by itself'),
  sites: z
    .record(z.string(), siteSchema)
    .optional()
    .describe('Rules for single sites, by registrable domain such as example.org, or by host where there is none'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional().describe('How much is logged on stderr'),
  smtp: smtp.optional().describe('Where letters are handed in, such as smtps://user:password@mail.example.org'),
  mailFrom: z.string().optional().describe('The sender of letters'),
  quiet: z.array(hours).optional().describe('Hours in which nothing is asked for, such as "22:00-06:00 Europe/Berlin"'),
  allowCommands: z.boolean().optional().describe('Whether subscriptions may start programs on this machine'),
  keep: z
    .strictObject({
      age: duration.optional().describe('Versions older than this go'),
      count: whole(1).optional().describe('At most so many versions of a page'),
      bytes: whole(1).optional().describe('At most so many bytes, as kept, for the versions of a page'),
      looks: duration.optional().describe('Looks older than this are forgotten; what was learned from them is not'),
      deliveries: duration
        .optional()
        .describe('Messages that were taken, or given up, longer ago than this are forgotten, such as 90d'),
    })
    .optional()
    .describe('How much of the past is kept; the last version always is'),
  pages: z.array(pageSchema).optional().describe('What is watched from the start; pages added later stay too'),
});

export type ConfigFile = z.infer<typeof fileSchema>;
export type ConfigSite = z.infer<typeof siteSchema>;
export type ConfigCollection = z.infer<typeof collectionSchema>;
export type ConfigPage = z.infer<typeof pageSchema>;

/** For editors: what a revisit.yaml may contain. */
export function jsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(fileSchema, { io: 'input' }) as Record<string, unknown>;
}
