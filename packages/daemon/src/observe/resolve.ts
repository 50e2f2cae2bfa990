/** Names to addresses, remembered for a short while so that a site's pages do not each ask. */
import { lookup } from 'node:dns/promises';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: false });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** Addresses move; what an answer's own lifetime would be, the system's resolver does not say. */
const keepMs = 60_000;
/** About 200 bytes each. */
const namesMax = 10_000;

/** One lookup at a time for a name; failures are not remembered. */
export function rememberingResolve(inner: Resolve, nowMs: () => number): Resolve {
  const known = new Map<
    string,
    { readonly addresses: Promise<readonly ResolvedAddress[]>; readonly untilMs: number }
  >();
  return (hostname) => {
    const old = known.get(hostname);
    if (old && old.untilMs > nowMs()) return old.addresses;
    const addresses = inner(hostname);
    known.delete(hostname);
    known.set(hostname, { addresses, untilMs: nowMs() + keepMs });
    if (known.size > namesMax) known.delete(known.keys().next().value!);
    addresses.catch(() => known.delete(hostname));
    return addresses;
  };
}
