/**
 * Who may say and hear what over NATS. A robot pulls probes and writes results under its own name; an observer likewise,
 * from its own queue; a reader follows the changes; a coordinator may do everything in the account of the cluster and
 * nothing outside of it. Nobody hears the answers to another: each has an inbox named after its key.
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

interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly allowResponses?: boolean;
}

/** Where answers to the holder of this key go. */
export const inboxOf = (key: string): string => `_INBOX_${key}`;

function permissionsOf({ role, name, key }: Grant): Permissions {
  const inbox = `${inboxOf(key)}.>`;
  switch (role) {
    case 'coordinator':
      return { publish: ['revisit.>', '$JS.>'], subscribe: ['revisit.>', inbox], allowResponses: true };
    case 'robot':
      return {
        publish: [
          subjects.observation('*', name),
          subjects.begin('*', name),
          subjects.hand('probes', name),
          ...pulling(streams.probes, consumers.robots),
        ],
        subscribe: [inbox],
      };
    case 'observer':
      return {
        publish: [
          subjects.observation('*', name),
          subjects.begin('*', name),
          subjects.hand('errands', name),
          subjects.word(name),
          // Whether another of its name is there.
          subjects.ask(name),
          ...pulling(streams.errands, name),
        ],
        subscribe: [inbox, subjects.ask(name)],
        allowResponses: true,
      };
    case 'reader':
      return {
        publish: [
          `$JS.API.STREAM.INFO.${streams.changes}`,
          // Of the changes alone: whoever pulls probes can have them sent into this stream, where they keep their own subject.
          `$JS.API.CONSUMER.CREATE.${streams.changes}.*.${subjects.change('>')}`,
          `$JS.API.CONSUMER.INFO.${streams.changes}.*`,
          `$JS.API.CONSUMER.DELETE.${streams.changes}.*`,
          `$JS.API.CONSUMER.MSG.NEXT.${streams.changes}.*`,
          `$JS.ACK.${streams.changes}.>`,
        ],
        subscribe: [inbox],
      };
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

function user(grant: Grant): string {
  const { publish, subscribe, allowResponses } = permissionsOf(grant);
  const responses = allowResponses ? ', allow_responses: true' : '';
  return `      # ${grant.role} ${grant.name}
      { nkey: ${grant.key}, permissions: { publish: ${list(publish)}, subscribe: ${list(subscribe)}${responses} } }`;
}

/** The accounts of a cluster; reloading them is how grants begin and end. */
export function accountsConfig(grants: readonly Grant[]): string {
  return `# Written by "revisit access"; edits are lost at its next call.
system_account: SYS
accounts {
  SYS {}
  REVISIT {
    jetstream: enabled
    users: [
${grants.map(user).join(',\n')}
    ]
  }
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
