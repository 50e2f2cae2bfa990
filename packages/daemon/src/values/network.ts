/** Which addresses may be visited: the public internet, and what the operator allowed. */
import ipaddr from 'ipaddr.js';
import type { Fault } from './fault.ts';
import { fault } from './fault.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

export type ParsedNetwork =
  | { readonly kind: 'network'; readonly network: Network }
  | { readonly kind: 'refused'; readonly fault: Fault };

/** An address range such as 10.0.0.0/8, fd00::/8, or a single address. */
export function parseNetwork(text: string): ParsedNetwork {
  const trimmed = text.trim();
  try {
    if (trimmed.includes('/')) return { kind: 'network', network: ipaddr.parseCIDR(trimmed) };
    const address = ipaddr.parse(trimmed);
    if (address.kind() === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(trimmed)) throw new Error('not four parts');
    return { kind: 'network', network: [address, address.kind() === 'ipv4' ? 32 : 128] };
  } catch {
    return {
      kind: 'refused',
      fault: fault(
        'network-refused',
        `network ${JSON.stringify(text)} is no address range; allowed is CIDR such as 10.0.0.0/8`,
      ),
    };
  }
}

export function networkOf(text: string): Network {
  const parsed = parseNetwork(text);
  // The configuration has checked it; whoever comes here with another has a bug.
  if (parsed.kind === 'refused') throw new Error(parsed.fault.sentence);
  return parsed.network;
}

const global6 = ipaddr.parse('2000::');

/** The inside of clouds at addresses that are public by their number, or of networks that people open for their own machines. */
const metadata = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', '169.254.169.254']);

/** An IPv4 address hidden in an IPv6 one comes out: it is what a translator on the way would connect to. */
function reveal(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const wide = address as ipaddr.IPv6;
  const bytes = wide.toByteArray();
  if (wide.range() === '6to4') return ipaddr.fromByteArray(bytes.slice(2, 6));
  return isTranslated(wide) ? ipaddr.fromByteArray(bytes.slice(12)) : wide;
}

/** One IPv4 address in the spelling of IPv6: mapped (RFC 4291), or through NAT64's own prefix (RFC 6052). */
const isTranslated = (address: ipaddr.IPv6): boolean => address.isIPv4MappedAddress() || address.range() === 'rfc6052';

/** Both spellings begin with these, in whatever form their end is written. */
const translated = /^[0:]*:ffff:|^0*64:ff9b:/i;

/** One spelling for each server: an IPv4 address that is written as IPv6 leads to the same. Any other text stays as it is. */
export function serverOf(address: string): string {
  if (!translated.test(address) || !ipaddr.IPv6.isValid(address)) return address;
  const wide = ipaddr.IPv6.parse(address);
  return isTranslated(wide) ? ipaddr.fromByteArray(wide.toByteArray().slice(12)).toString() : address;
}

export type AddressVerdict =
  | { readonly kind: 'allowed'; readonly range: 'public' | 'allowed' }
  | { readonly kind: 'refused'; readonly range: string };

function read(text: string): Address | undefined {
  try {
    // A zone index names an interface of this machine, and is no part of the address.
    return reveal(ipaddr.parse(text.replace(/%.*$/, '')));
  } catch {
    return undefined;
  }
}

/** Loopback, and the networks of homes, companies and virtual private networks. */
const ownNetworks = [
  '127.0.0.0/8',
  '::1/128',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
].map((text): Network => ipaddr.parseCIDR(text));

/**
 * For those who are told: people have their receivers beside the daemon or in their own network, and only who may change
 * subscriptions names them. Where a cloud keeps its credentials nobody does, whatever is allowed.
 */
export function judgeReceiver(text: string, allowed: readonly Network[]): AddressVerdict {
  const address = read(text);
  if (address && metadata.has(address.toString())) return { kind: 'refused', range: 'metadata' };
  return judgeAddress(text, [...allowed, ...ownNetworks]);
}

export function judgeAddress(text: string, allowed: readonly Network[]): AddressVerdict {
  const address = read(text);
  if (!address) return { kind: 'refused', range: 'not an address' };
  if (allowed.some(([network, bits]) => network.kind() === address.kind() && address.match(network as never, bits))) {
    return { kind: 'allowed', range: 'allowed' };
  }
  if (metadata.has(address.toString())) return { kind: 'refused', range: 'metadata' };
  const range: string = address.range();
  // Of IPv6 only this eighth is given out; the rest is reserved, or an old way of writing IPv4.
  if (range === 'unicast' && address.kind() === 'ipv6' && !address.match(global6 as never, 3)) {
    return { kind: 'refused', range: 'reserved' };
  }
  if (range === 'unicast') return { kind: 'allowed', range: 'public' };
  return { kind: 'refused', range: rangeNames[range] ?? range };
}

/** As people call them, where the library's own names are not words; each stands before "address". */
const rangeNames: Readonly<Record<string, string>> = {
  linkLocal: 'link-local',
  uniqueLocal: 'unique local',
  carrierGradeNat: 'carrier-grade NAT',
  deprecatedSiteLocal: 'site-local',
  ipv4Mapped: 'mapped IPv4',
  discard: 'discard-only',
  rfc6145: 'translated IPv4',
  rfc6052: 'translated IPv4',
  teredo: 'Teredo',
  amt: 'multicast tunnel (AMT)',
  as112: 'name server (AS112)',
  as112v6: 'name server (AS112)',
  deprecatedOrchid: 'hash (ORCHID)',
  orchid2: 'hash (ORCHID)',
  droneRemoteIdProtocolEntityTags: 'drone',
  segmentRouting: 'segment routing',
};
