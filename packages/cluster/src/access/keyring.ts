/**
 * The folder of a cluster's grants: the list, one seed for each holder to carry away, and the server's configuration. Calls that
 * change it take turns, or one would write over what another has granted or taken back since it read the list.
 *
 * The list is written last: what a call that was killed had done before is not in it, and the same call again does all of it,
 * with a new key. A key without a grant is what such a call has left, and can be taken back as any other.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { lockFolder, makeFolder } from 'revisit/ports';
import { type Grant, type NatsServing, type Role, accountsConfig, inboxOf, natsConfig } from './grants.ts';
import { type Kept, grantsText, nameForm, readGrants } from './grants-file.ts';
import { keyText } from './key-file.ts';
import { type Replacement, replaceFiles } from './replace-files.ts';

/** A turn takes as long as a disk needs for four small files: a hundred calls at once are through by then. */
const turnMsMax = 20_000;

export type Granted =
  | {
      readonly kind: 'done';
      readonly seedFile: string;
      readonly configFile: string;
      /** Where its answers must go. */
      readonly inbox: string;
    }
  | { readonly kind: 'wrong'; readonly sentence: string }
  | Failed;

export type Removed =
  | { readonly kind: 'done'; readonly configFile: string }
  | { readonly kind: 'wrong'; readonly sentence: string }
  | Failed;

export type Served = { readonly kind: 'done' } | Failed;

export type Listed = { readonly kind: 'done'; readonly grants: readonly Grant[] } | Failed;

/** The call was right, and the folder does not let it be done. */
interface Failed {
  readonly kind: 'failed';
  readonly sentence: string;
}

export class Keyring {
  readonly #folder: string;
  readonly #turnMsMax: number;

  constructor(folder: string, patienceMs = turnMsMax) {
    this.#folder = folder;
    this.#turnMsMax = patienceMs;
  }

  get #file(): string {
    return join(this.#folder, 'grants.json');
  }

  get configFile(): string {
    return join(this.#folder, 'nats.conf');
  }

  #seedFile(name: string): string {
    return join(this.#folder, `${name}.nk`);
  }

  #read(): { readonly kind: 'read'; readonly kept: Kept } | Failed {
    const serving = { listen: '127.0.0.1:4222', folder: resolve(this.#folder, 'jetstream') };
    if (!existsSync(this.#file)) return { kind: 'read', kept: { serving, grants: [] } };
    const kept = readGrants(readFileSync(this.#file, 'utf8'));
    if (kept) return { kind: 'read', kept };
    const sentence = `${this.#file}: it is not a list of keys as "revisit access" writes it, and is left as it is; bring back a copy, or move it away to begin without keys`;
    return { kind: 'failed', sentence };
  }

  #write(kept: Kept, ...before: Replacement[]): void {
    replaceFiles([
      ...before,
      { file: join(this.#folder, 'accounts.conf'), text: accountsConfig(kept.grants) },
      { file: this.configFile, text: natsConfig(kept.serving, 'accounts.conf') },
      { file: this.#file, text: grantsText(kept) },
    ]);
  }

  /** With the list as it is, and nobody else changing it meanwhile. */
  #inTurn<Done>(change: (kept: Kept) => Done): Done | Failed {
    const place = join(this.#folder, 'access.lock');
    makeFolder(place);
    const lock = lockFolder(place, this.#turnMsMax);
    if (lock.kind === 'failed') return lock;
    if (lock.kind === 'held') {
      const seconds = this.#turnMsMax / 1000;
      const sentence = `${this.#folder}: another "revisit access" has been changing the keys for ${seconds} s; nothing was done, try again when it has ended`;
      return { kind: 'failed', sentence };
    }
    try {
      const read = this.#read();
      return read.kind === 'failed' ? read : change(read.kept);
    } finally {
      lock.release();
    }
  }

  grants(): Listed {
    const read = this.#read();
    return read.kind === 'failed' ? read : { kind: 'done', grants: read.kept.grants };
  }

  /** How the server listens; grants stay. */
  serve(serving: Partial<NatsServing>): Served {
    return this.#inTurn((kept) => {
      this.#write({ ...kept, serving: { ...kept.serving, ...serving } });
      return { kind: 'done' };
    });
  }

  add(role: Role, name: string): Granted {
    if (!nameForm.test(name))
      return { kind: 'wrong', sentence: `name ${name}: up to 40 small letters, digits and hyphens are expected` };
    return this.#inTurn((kept) => {
      if (kept.grants.some((grant) => grant.name === name))
        return { kind: 'wrong', sentence: `name ${name}: it has a key already; remove it first` };
      const pair = nkeys.createUser();
      const seedFile = this.#seedFile(name);
      const text = keyText(pair.getSeed(), role, name);
      const grants = [...kept.grants, { role, name, key: pair.getPublicKey() }];
      this.#write({ ...kept, grants }, { file: seedFile, text, secret: true });
      return { kind: 'done', seedFile, configFile: this.configFile, inbox: inboxOf(pair.getPublicKey()) };
    });
  }

  /** The key opens nothing any more once the servers have read their configuration again. */
  remove(name: string): Removed {
    const unknown = { kind: 'wrong', sentence: `name ${name}: nobody has a key by this name` } as const;
    // A folder that is not there is not made for this.
    if (!nameForm.test(name) || !existsSync(this.#folder)) return unknown;
    const seedFile = this.#seedFile(name);
    return this.#inTurn((kept) => {
      if (!kept.grants.some((grant) => grant.name === name) && !existsSync(seedFile)) return unknown;
      this.#write({ ...kept, grants: kept.grants.filter((grant) => grant.name !== name) });
      rmSync(seedFile, { force: true });
      return { kind: 'done', configFile: this.configFile };
    });
  }
}
