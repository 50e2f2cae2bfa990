/**
 * Under what id a probe goes out: one that nobody can guess who has not been given the probe, so that nobody else can answer it. All
 * coordinators make the same of the same probe: an answer is understood by whoever holds the shard when it comes.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Kept, Store } from 'revisit/ports';

export type Seal = (probeId: string) => string;

const keyBytes = 32;
/** 132 bits. */
const sealCharacters = 22;

export function sealWith(key: Uint8Array): Seal {
  return (probeId) =>
    `${probeId}.${createHmac('sha256', key).update(probeId).digest('base64url').slice(0, sealCharacters)}`;
}

/** With the key that the coordinators on this store have in common; the first of them makes it. */
export async function sealOf(store: Pick<Store, 'revise'>): Promise<Kept<Seal>> {
  const kept = await store.revise('seal-key', (before) => {
    const key = before ?? randomBytes(keyBytes);
    return before ? { value: key } : { after: key, value: key };
  });
  return kept.kind === 'kept' ? { kind: 'kept', value: sealWith(kept.value) } : kept;
}
