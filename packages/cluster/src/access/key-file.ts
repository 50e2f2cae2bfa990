/**
 * A key as its holder keeps it: the seed, and below it for whom it was made, so that a wrong name is noticed before any work
 * is taken. A reader's has the seed alone, as other programs read it.
 */
import { nkeys } from '@nats-io/transport-node';
import { type Role, roles } from './grants.ts';

export interface HeldKey {
  readonly seed: Uint8Array;
  readonly publicKey: string;
  /** Unknown of keys that were made before it was written down. */
  readonly madeFor: { readonly role: Role; readonly name: string } | undefined;
}

export function keyText(seed: Uint8Array, role: Role, name: string): string {
  const line = `${Buffer.from(seed).toString()}\n`;
  return role === 'reader' ? line : `${line}# ${role} ${name}\n`;
}

/** Undefined when the text holds no seed. */
export function readKey(text: string): HeldKey | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const seed = Buffer.from(lines.find((line) => line !== '' && !line.startsWith('#')) ?? '');
  const [, word, name] = lines.map((line) => /^# (\w+) (\S+)$/.exec(line)).find((found) => found !== null) ?? [];
  const role = roles.find((known) => known === word);
  try {
    const publicKey = nkeys.fromSeed(seed).getPublicKey();
    return { seed, publicKey, madeFor: role && name !== undefined ? { role, name } : undefined };
  } catch {
    return undefined;
  }
}

/** What is to be said of a key that was made for another role than this one. */
export function notFor(role: Role, name: string, key: HeldKey | undefined): string | undefined {
  const { madeFor } = key ?? {};
  if (!madeFor || madeFor.role === role) return undefined;
  return `the key is that of ${madeFor.role} ${madeFor.name}; make one with "revisit access add ${role} ${name}"`;
}
