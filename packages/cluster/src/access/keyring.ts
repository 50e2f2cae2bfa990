/** The folder of a cluster's grants: the list, one seed for each holder to carry away, and the server's configuration. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { makeFolder } from 'revisit/ports';
import { type Grant, type NatsServing, type Role, accountsConfig, inboxOf, natsConfig } from './grants.ts';
import { keyText } from './key-file.ts';

const nameForm = /^[a-z0-9][a-z0-9-]{0,39}$/;

interface Kept {
  readonly serving: NatsServing;
  readonly grants: readonly Grant[];
}

export type Granted =
  | {
      readonly kind: 'done';
      readonly seedFile: string;
      readonly configFile: string;
      /** Where its answers must go. */
      readonly inbox: string;
    }
  | { readonly kind: 'wrong'; readonly sentence: string };

export type Removed =
  | { readonly kind: 'done'; readonly configFile: string }
  | { readonly kind: 'wrong'; readonly sentence: string };

export class Keyring {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get #file(): string {
    return join(this.#folder, 'grants.json');
  }

  get configFile(): string {
    return join(this.#folder, 'nats.conf');
  }

  #read(): Kept {
    if (existsSync(this.#file)) return JSON.parse(readFileSync(this.#file, 'utf8')) as Kept;
    return { serving: { listen: '127.0.0.1:4222', folder: join(this.#folder, 'jetstream') }, grants: [] };
  }

  #write(kept: Kept): void {
    makeFolder(this.#folder);
    writeFileSync(this.#file, `${JSON.stringify(kept, null, 2)}\n`);
    writeFileSync(join(this.#folder, 'accounts.conf'), accountsConfig(kept.grants));
    writeFileSync(this.configFile, natsConfig(kept.serving, 'accounts.conf'));
  }

  grants(): readonly Grant[] {
    return this.#read().grants;
  }

  /** How the server listens; grants stay. */
  serve(serving: Partial<NatsServing>): void {
    const kept = this.#read();
    this.#write({ ...kept, serving: { ...kept.serving, ...serving } });
  }

  add(role: Role, name: string): Granted {
    const kept = this.#read();
    if (!nameForm.test(name))
      return { kind: 'wrong', sentence: `name ${name}: up to 40 small letters, digits and hyphens are expected` };
    if (kept.grants.some((grant) => grant.name === name))
      return { kind: 'wrong', sentence: `name ${name}: it has a key already; remove it first` };
    const pair = nkeys.createUser();
    this.#write({ ...kept, grants: [...kept.grants, { role, name, key: pair.getPublicKey() }] });
    const seedFile = join(this.#folder, `${name}.nk`);
    writeFileSync(seedFile, keyText(pair.getSeed(), role, name), { mode: 0o600 });
    chmodSync(seedFile, 0o600);
    return { kind: 'done', seedFile, configFile: this.configFile, inbox: inboxOf(pair.getPublicKey()) };
  }

  /** The key opens nothing any more once the servers have read their configuration again. */
  remove(name: string): Removed {
    const kept = this.#read();
    if (!kept.grants.some((grant) => grant.name === name))
      return { kind: 'wrong', sentence: `name ${name}: nobody has a key by this name` };
    this.#write({ ...kept, grants: kept.grants.filter((grant) => grant.name !== name) });
    rmSync(join(this.#folder, `${name}.nk`), { force: true });
    return { kind: 'done', configFile: this.configFile };
  }
}
