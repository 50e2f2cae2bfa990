/** Names to addresses, as this machine's own resolver answers: its files, its search list, its name servers. */
import { CONNREFUSED, lookup, Resolver, TIMEOUT } from 'node:dns/promises';
import { LookupPlaces } from './lookup-places.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: false });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** 2 s and then 4 s: one lost packet is no silence, and it is over before those who wait for the name give up. */
const tries = { timeout: 2_000, tries: 2 };

/**
 * Whether any name server says anything of the name, be it that there is none. It is asked directly, which takes no thread, and says
 * nothing of addresses: files and search lists of this machine count for those.
 */
export async function isAnsweredFor(hostname: string): Promise<boolean> {
  try {
    await new Resolver(tries).resolve4(hostname);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== TIMEOUT && code !== CONNREFUSED;
  }
}

/** What Node has when nothing else is set before it starts. */
const usualThreads = 4;
const threads = Number(process.env['UV_THREADPOOL_SIZE']) || usualThreads;

/** The threads are the process's, so whoever looks up names in it shares these; Node gives lookups half of them, rounded up. */
export const systemPlaces = new LookupPlaces(Math.ceil(threads / 2));
