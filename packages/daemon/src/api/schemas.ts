/** The bodies of the API as schemas: the one description that requests, answers, /openapi.json and the typed client share. */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { changeKinds } from '../values/change.ts';

/** Named schemas, as they appear under `components` of the OpenAPI document. */
export const schemas: TSchema[] = [];

function named<Schema extends TSchema>(id: string, schema: Schema) {
  schemas.push({ ...schema, $id: id });
  return Type.Unsafe<Static<Schema>>({ $ref: `${id}#` });
}

const open = { additionalProperties: true } as const;
const closed = { additionalProperties: false } as const;

export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const Time = Type.String({ format: 'date-time' });
/** Where several coordinators answer as one. */
export const Missing = Type.Integer({
  description: 'Coordinators of a cluster that did not answer in time: what they look after is not counted here.',
});
/** What a check does not wait for. */
export const LaterPages = Type.Array(
  Type.Object({
    pages: Type.Integer(),
    why: Type.String({ description: 'Such as "quiet hours of example.org".' }),
    until: Type.Union([Time, Type.Null()]),
  }),
  { description: 'Pages that were not looked at, as they may not be for long: they stay due.' },
);
/** The largest whole number that every store can hold in a place for one. */
export const countMax = 2 ** 31 - 1;
export const VersionNumber = Type.Integer({ minimum: 1, maximum: countMax });
const OneOf = <const Words extends readonly string[]>(words: Words) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] });
export { OneOf };

export const Problem = named(
  'Problem',
  Type.Object({
    type: Type.String(),
    title: Type.String({ description: 'The code, as listed in docs/faults.md.' }),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence that names the field, the value and what is allowed.' }),
  }),
);

export const FaultBody = named('Fault', Type.Object({ code: Type.String(), sentence: Type.String() }));

export const pageStatuses = ['new', 'present', 'gone', 'unreadable'] as const;
export const lookKindNames = ['first', 'changed', 'unchanged', 'gone', 'unreadable', 'refused', 'failed'] as const;
export const scopes = ['read', 'write', 'admin'] as const;

const Profile = Type.Object({
  breaks: Type.Array(Type.Number()),
  values: Type.Array(Type.Number()),
  period: Type.Optional(Type.Number()),
});

/** What a page's user may set. */
const settings = {
  title: Type.Optional(Type.String({ maxLength: 2_000 })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 })),
  weight: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'How much a change of it matters, relative to 1.' }),
  ),
  urgency: Type.Optional(Type.Union([Type.String(), Type.Object({ kind: Type.String() }, open)])),
  life: Type.Optional(Type.Union([Type.String(), Type.Object({ kind: Type.String() }, open)])),
  loss: Type.Optional(OneOf(['obsolescence', 'staleness'])),
  importance: Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Profile])),
  spacing: Type.Optional(Type.String({ description: 'The least time between two looks at it, such as 1h.' })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  render: Type.Optional(Type.Boolean()),
  paused: Type.Optional(Type.Boolean()),
  options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  select: Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Object({}, open)], {
      description: 'A CSS selector, //xpath, $.jsonpath, jq:…, regexp:…, main, links, text or whole.',
    }),
  ),
};

export const PageInput = named(
  'PageInput',
  Type.Object({ url: Type.String({ minLength: 1, maxLength: 4_096 }), ...settings }, closed),
);
export const PageChange = named('PageChange', Type.Object({ url: Type.Optional(Type.String()), ...settings }, closed));

export const UsualTimeBody = Type.Object(
  {
    every: Type.Number({ description: 'Seconds of a cycle: a week, a day, an hour …' }),
    next: Time,
    within: Type.Number({ description: 'Half of its changes lie within so many seconds of that moment.' }),
    share: Type.Number({ description: 'The share of cycles in which there is one.' }),
  },
  { description: 'The moment of a day or of another cycle at which it usually changes, where it keeps to one.' },
);

export const PageBody = named(
  'Page',
  Type.Object(
    {
      id: Type.String(),
      url: Type.String(),
      site: Type.String(),
      select: Type.String(),
      title: Nullable(Type.String()),
      tags: Type.Array(Type.String()),
      weight: Type.Number(),
      paused: Type.Boolean(),
      options: Type.Record(Type.String(), Type.Unknown()),
      spacingSeconds: Type.Optional(Type.Number()),
      loss: Type.Optional(Type.String()),
      render: Type.Optional(Type.Boolean()),
      urgency: Type.Optional(Type.Object({ kind: Type.String() }, open)),
      life: Type.Optional(Type.Object({ kind: Type.String() }, open)),
      importance: Type.Optional(Type.Union([Type.Number(), Profile])),
      headers: Type.Optional(Type.Array(Type.String(), { description: 'Names only: values never come out again.' })),
      addedAt: Time,
      status: OneOf(pageStatuses),
      version: Type.Integer(),
      looks: Type.Integer(),
      changes: Type.Integer(),
      failures: Type.Integer(),
      lastProbe: Nullable(Time),
      lastSeen: Nullable(Time),
      lastChange: Nullable(Time),
      fault: Nullable(FaultBody),
      movedTo: Nullable(Type.String()),
      current: Nullable(
        Type.Number({ minimum: 0, maximum: 1, description: 'The probability that our copy is current.' }),
      ),
      rate: Nullable(
        Type.Number({
          description:
            'Changes a day over the time that the page has been watched, as its own looks tell; what pages like it do counts only while it has shown little. Null before the page has been seen.',
        }),
      ),
      rateInterval: Nullable(
        Type.Array(Nullable(Type.Number()), {
          description: '95 % for the rate, from its own looks alone. No upper bound where every look found a change.',
        }),
      ),
      usualTime: Nullable(UsualTimeBody),
      nextProbe: Nullable(Time),
      waits: Nullable(
        Type.Object(
          { why: Type.String({ description: 'Such as "quiet hours of example.org".' }), until: Time },
          {
            description:
              'What puts its next look off beside its turn: hours, a cap, a site that is left alone, or that it may not be visited.',
          },
        ),
      ),
      discovery: Type.Optional(
        Type.Object(
          {
            pages: Type.Integer({ description: 'Pages that are watched because of it.' }),
            limit: Type.Integer({ description: 'How many that may be: `pages` of its `discover`.' }),
            leftOut: Type.Boolean({ description: 'It lists more, and there is no room for them.' }),
            misread: Type.Optional(
              Type.String({ description: 'The address of a sitemap that cannot be read, or in part only.' }),
            ),
          },
          { description: 'What a page with `discover` has found, while it is looked at.' },
        ),
      ),
      activity: Type.Optional(
        Type.String({
          description: 'The last looks, newest last, one letter each: first letters of their kinds, x for failed.',
        }),
      ),
      created: Type.Optional(Type.Boolean()),
    },
    open,
  ),
);

export const ChangeBody = named(
  'Change',
  Type.Object(
    {
      cursor: Type.String(),
      id: Type.String(),
      pageId: Type.String(),
      url: Type.String(),
      site: Type.String(),
      title: Type.Optional(Type.String()),
      tags: Type.Array(Type.String()),
      kind: OneOf(changeKinds),
      at: Time,
      after: Nullable(Time),
      fromVersion: Type.Optional(Type.Integer()),
      toVersion: Type.Optional(Type.Integer()),
      count: Type.Number(),
      summary: Type.String(),
      seen: Type.Optional(Type.Boolean({ description: 'Whether somebody marked it as seen.' })),
    },
    open,
  ),
);

export const VersionBody = named(
  'Version',
  Type.Object(
    {
      number: Type.Integer(),
      at: Time,
      hash: Type.String(),
      format: Type.String(),
      bytes: Type.Integer(),
      raw: Type.Boolean({ description: 'Whether the whole page was kept beside what is watched.' }),
    },
    open,
  ),
);

export const LookBody = named(
  'Look',
  Type.Object({
    at: Time,
    kind: OneOf(lookKindNames),
    durationMs: Type.Number(),
    bytesReceived: Type.Number(),
  }),
);

const WordRun = Type.Object({ kind: OneOf(['same', 'removed', 'added']), text: Type.String() });
export const DifferenceBody = named(
  'Difference',
  Type.Object(
    {
      format: Type.String(),
      blocks: Type.Array(
        Type.Object({
          kind: OneOf(['same', 'removed', 'added', 'changed']),
          lines: Type.Optional(Type.Union([Type.Integer(), Type.Array(Type.String())])),
          first: Type.Optional(Type.Array(Type.String())),
          last: Type.Optional(Type.Array(Type.String())),
          words: Type.Optional(Type.Array(WordRun)),
        }),
      ),
      linesAdded: Type.Integer(),
      linesRemoved: Type.Integer(),
      charactersAdded: Type.Integer(),
      charactersRemoved: Type.Integer(),
      places: Type.Integer(),
      number: Type.Optional(Type.Object({ from: Type.Number(), to: Type.Number() })),
      cut: Type.Optional(Type.Boolean({ description: 'There is more than a brief answer shows.' })),
    },
    open,
  ),
);

export const TokenBody = named(
  'Token',
  Type.Object({ id: Type.String(), name: Type.String(), scope: OneOf(scopes), createdAt: Time }),
);

export const OutlineNode = named(
  'OutlineNode',
  Type.Object({
    depth: Type.Integer(),
    tag: Type.String(),
    selector: Type.String({ description: 'A CSS selector that matches this element.' }),
    matches: Type.Integer({ description: 'How many elements the selector matches.' }),
    text: Type.String(),
  }),
);

export const idParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });

export const deliveryStatuses = ['open', 'due', 'sent', 'dead'] as const;

const Receiver = Type.Union(
  [Type.String({ minLength: 1, maxLength: 4_096 }), Type.Object({ kind: Type.String() }, open)],
  {
    description: 'A webhook as its URL, mailto:somebody, or an object: see docs/telling.md.',
  },
);
const subscription = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  match: Type.String({ maxLength: 2_000, description: 'Which changes, such as: site = example.org and size > 20.' }),
  digest: Type.Union([Type.String(), Type.Array(Type.String())], {
    description: 'hourly, daily, or times such as 08:00.',
  }),
  quiet: Type.String({ description: 'Hours such as 22:00-07:00.' }),
  burstSeconds: Type.Number({ minimum: 0, maximum: 86_400 }),
  zone: Type.String({ description: 'A time zone such as Europe/Vienna.' }),
  template: Type.Object({ title: Type.Optional(Type.String()), body: Type.Optional(Type.String()) }, closed),
  paused: Type.Boolean(),
};
const optionalFields = Object.fromEntries(
  Object.entries(subscription).map(([name, schema]) => [name, Type.Optional(schema)]),
);
const changeableFields = Object.fromEntries(
  Object.entries(subscription).map(([name, schema]) => [name, Type.Optional(Nullable(schema))]),
);
export const SubscriptionInput = named(
  'SubscriptionInput',
  Type.Object({ deliver: Receiver, ...optionalFields }, closed),
);
export const SubscriptionChange = named(
  'SubscriptionChange',
  Type.Object({ deliver: Type.Optional(Receiver), ...changeableFields }, closed),
);
export const SubscriptionBody = named(
  'Subscription',
  Type.Object(
    {
      id: Type.String(),
      name: Type.Optional(Type.String()),
      quiet: Type.Optional(Type.String()),
      match: Type.String(),
      deliver: Type.Object({ kind: Type.String() }, open),
      zone: Type.String(),
      paused: Type.Boolean(),
      createdAt: Time,
    },
    open,
  ),
);
export const DeliveryBody = named(
  'Delivery',
  Type.Object({
    id: Type.String(),
    subscriptionId: Type.String(),
    status: OneOf(deliveryStatuses),
    cursors: Type.Array(Type.String(), { description: 'Which changes it tells of.' }),
    attempts: Type.Integer(),
    planned: Time,
    due: Time,
    firstTried: Nullable(Time),
    settled: Nullable(Time),
    fault: Nullable(FaultBody),
  }),
);
export const NoiseBody = named(
  'Noise',
  Type.Object({
    id: Type.String(),
    kind: OneOf(['words', 'lines', 'field']),
    pattern: Type.Array(Type.String(), {
      description: 'The fixed pieces of a line with a hole between each two; the lines before and after; or the field.',
    }),
    example: Type.String(),
    why: Type.String(),
    since: Time,
    ignored: Type.Boolean(),
  }),
);
