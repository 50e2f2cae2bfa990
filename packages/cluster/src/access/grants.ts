/**
 * Who may say and hear what over NATS. A robot pulls probes and writes results under its own name; an observer likewise,
 * from its own queue; a reader follows the changes by a consumer of its own name, which coordinators make for it; a coordinator may do
 * everything in the account of the cluster and nothing outside of it. Nobody hears the answers to another: each has an inbox named after its key.
 *
 * Rights on subjects are not enough: whoever asks says where the answer goes, and NATS looks at no rights for that, so that a result
 * whose receipt is to go to `$JS.API.STREAM.PURGE.…` would have the server itself purge a stream. So robots, observers and readers have
 * accounts beside that of the cluster, into which exactly the subjects are imported that they may write to: between accounts the
 * server puts a subject of its own in place of the one that was named, so whatever they name leads no further than to what their role may say.
 * There is one account for each role, from the beginning: NATS 2.9 imports nothing into one that is new at a reload until the next.
 */
import { consumers, streams, subjects } from '../dispatch/streams.ts';

export const roles = ['coordinator', 'robot', 'observer', 'reader'] as const;
export type Role = (typeof roles)[number];

export interface Grant {
  readonly role: Role;
  readonly name: string;
  /** The public half of its key. */
  readonly key: string;
}

/** Where answers to the holder of this key go. */
export const inboxOf = (key: string): string => `_INBOX_${key}`;

/** The account of the cluster: its streams, and the coordinators. */
const cluster = 'REVISIT';
/** No look takes as long to be asked for; where nobody answers, the servers remember for so long whom an answer would go to. */
const answersWithin = '10s';
/** The same of messages that were asked for: readers' programs let a request stand for half a minute, and hear nothing while there is nothing. */
const pullsWithin = '2m';
/** As many pieces of work as one may be handed at once. */
const answersMax = 64;

const changesInfo = `$JS.API.STREAM.INFO.${streams.changes}`;

/** What others may be given of the cluster's account: with one answer, and with as many as there are. */
const exported = {
  single: [
    subjects.observation('*', '*'),
    subjects.begin('*', '*'),
    subjects.word('*'),
    '$JS.ACK.>',
    subjects.reader('*', '>'),
    changesInfo,
  ],
  many: { [subjects.hand('*', '*')]: answersWithin, '$JS.API.CONSUMER.MSG.NEXT.*.*': pullsWithin },
} as const;

/** What one that is not a coordinator may write to in the cluster's account; `*` for all of its role. */
function writableBy({ role, name }: Pick<Grant, 'role' | 'name'>): readonly string[] {
  switch (role) {
    case 'robot':
      return [
        subjects.observation('*', name),
        subjects.begin('*', name),
        subjects.hand('probes', name),
        ...pulling(streams.probes, consumers.robots),
      ];
    case 'observer':
      return [
        subjects.observation('*', name),
        subjects.begin('*', name),
        subjects.hand('errands', name),
        subjects.word(name),
        ...pulling(streams.errands, name),
      ];
    case 'reader':
      return [subjects.reader(name, '>'), changesInfo, ...pulling(streams.changes, name)];
    case 'coordinator':
      return [];
  }
}

const pulling = (stream: string, consumer: string): string[] => [
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
  `$JS.ACK.${stream}.${consumer}.>`,
];

export interface NatsServing {
  readonly listen: string;
  /** Where JetStream keeps its files. */
  readonly folder: string;
  readonly tls?: { readonly cert: string; readonly key: string };
}

const list = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;

const lines = (items: readonly string[]): string => `[\n${items.map((item) => `      ${item}`).join('\n')}\n    ]`;

interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** To where it was asked from, so often. */
  readonly answers?: number;
}

function user({ role, name, key }: Grant, { publish, subscribe, answers }: Permissions): string {
  const responses = answers ? `, allow_responses: { max: ${answers}, expires: "${answersWithin}" }` : '';
  const heard = [`${inboxOf(key)}.>`, ...subscribe];
  return `# ${role} ${name}
      { nkey: ${key}, permissions: { publish: ${list(publish)}, subscribe: ${list(heard)}${responses} } }`;
}

const coordinator = (grant: Grant): string =>
  user(grant, { publish: ['revisit.>', '$JS.>'], subscribe: ['revisit.>'], answers: answersMax });

/** The accounts of those who are no coordinators. */
const accounts = { robot: 'ROBOTS', observer: 'OBSERVERS', reader: 'READERS' } as const;
type Stranger = keyof typeof accounts;

/** Where observers are asked: by the cluster, and whether they are there by others of their name. */
const askedAt = (role: Role, name: string): readonly string[] => (role === 'observer' ? [subjects.ask(name)] : []);

function stranger(grant: Grant): string {
  const asked = askedAt(grant.role, grant.name);
  const publish = [...writableBy(grant).map(importedAs), ...asked];
  return user(grant, { publish, subscribe: asked, ...(asked.length > 0 ? { answers: 1 } : {}) });
}

/**
 * What the client of a reader asks JetStream for, and by which name. Servers have in every account somebody who answers for JetStream, in one
 * without it that it is not there, so nothing to which that one answers may be imported under its own name. About consumers (as
 * newer and as older clients ask) it is the coordinators who are asked. Other names than the reader's are left, so that its client hears the refusal.
 */
const renamedFor = (reader: string): Readonly<Record<string, string>> => ({
  [changesInfo]: importedAs(changesInfo),
  [`$JS.API.CONSUMER.CREATE.${streams.changes}.${reader}`]: subjects.reader(reader, 'create'),
  [`$JS.API.CONSUMER.CREATE.${streams.changes}.${reader}.>`]: subjects.reader(reader, 'create.>'),
  [`$JS.API.CONSUMER.DURABLE.CREATE.${streams.changes}.${reader}`]: subjects.reader(reader, 'create'),
  [`$JS.API.CONSUMER.INFO.${streams.changes}.${reader}`]: subjects.reader(reader, 'info'),
  [`$JS.API.CONSUMER.DELETE.${streams.changes}.${reader}`]: subjects.reader(reader, 'delete'),
});

/** Under which subject it is imported; one with a wildcard under its own: an answer that is led to where the two differ ends NATS 2.9 (index out of range). */
const importedAs = (there: string): string => (there === changesInfo ? 'revisit.changes' : there);

function account(role: Stranger, all: readonly Grant[]): string {
  const grants = all.filter((grant) => grant.role === role);
  const renamed = Object.assign({}, ...grants.map(({ name }) => (role === 'reader' ? renamedFor(name) : {}))) as object;
  const mappings = Object.entries(renamed).map(([from, to]) => `${JSON.stringify(from)}: ${JSON.stringify(to)}`);
  return `  ${accounts[role]} {
    exports: ${lines(askedAt(role, '*').map((subject) => `{ service: ${JSON.stringify(subject)} }`))}
    imports: ${lines(writableBy({ role, name: '*' }).map((there) => service(cluster, there, importedAs(there))))}
    mappings: { ${mappings.join(', ')} }
    users: ${lines(grants.map(stranger))}
  }`;
}

const service = (account: string, subject: string, here = subject): string =>
  `{ service: { account: ${account}, subject: ${JSON.stringify(subject)} }, to: ${JSON.stringify(here)} }`;

/** The accounts of a cluster; reloading them is how grants begin and end. */
export function accountsConfig(grants: readonly Grant[]): string {
  const single = exported.single.map((subject) => `{ service: ${JSON.stringify(subject)} }`);
  const many = Object.entries(exported.many).map(
    ([subject, within]) => `{ service: ${JSON.stringify(subject)}, response: stream, threshold: "${within}" }`,
  );
  const asked = askedAt('observer', '*').map((subject) => service(accounts.observer, subject));
  return `# Written by "revisit access"; edits are lost at its next call.
system_account: SYS
accounts {
  SYS {}
  ${cluster} {
    jetstream: enabled
    exports: ${lines([...single, ...many])}
    imports: ${lines(asked)}
    users: ${lines(grants.filter(({ role }) => role === 'coordinator').map(coordinator))}
  }
${(Object.keys(accounts) as Stranger[]).map((role) => account(role, grants)).join('\n')}
}
`;
}

/** The whole configuration of a single NATS server for a cluster of Revisit; several of them include the accounts alone. */
export function natsConfig(serving: NatsServing, accountsFile: string): string {
  const tls = serving.tls
    ? `tls { cert_file: ${JSON.stringify(serving.tls.cert)}, key_file: ${JSON.stringify(serving.tls.key)} }\n`
    : '';
  return `# Written by "revisit access"; edits are lost at its next call.
listen: ${JSON.stringify(serving.listen)}
jetstream { store_dir: ${JSON.stringify(serving.folder)} }
${tls}include ${JSON.stringify(accountsFile)}
`;
}
