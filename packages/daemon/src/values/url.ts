/**
 * One spelling for every URL that is watched, so that pages that share a URL share its requests.
 *
 * Rules, in order: blanks around are dropped; a missing scheme is https; only http and https; no user name or password (they
 * belong into headers, which are never logged); the WHATWG parser lowers the host, resolves dots, drops default ports and
 * encodes; the fragment goes (servers never see it); unreserved characters are decoded and escapes are in capitals; an
 * empty query goes. The order of parameters and a slash at the end stay: they may mean something.
 */
import { getDomain } from 'tldts';
import type { Fault } from './fault.ts';
import { fault } from './fault.ts';
import { serverOf } from './network.ts';

/** Longer ones are refused: servers do, and every index carries them. */
export const urlCharactersMax = 4096;

export type NormalisedUrl =
  | { readonly kind: 'url'; readonly url: string; readonly host: string }
  | { readonly kind: 'refused'; readonly fault: Fault };

const refused = (sentence: string): NormalisedUrl => ({ kind: 'refused', fault: fault('url-refused', sentence) });

export function normaliseUrl(text: string): NormalisedUrl {
  const trimmed = text.trim();
  if (trimmed.length === 0) return refused('url is empty; allowed is an http or https address');
  if (trimmed.length > urlCharactersMax) {
    return refused(`url has ${trimmed.length} characters; allowed are at most ${urlCharactersMax}`);
  }
  const url = parse(trimmed);
  if (!url) return refused(`url ${JSON.stringify(shorten(trimmed))} is not an address; allowed is http or https`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refused(`url scheme ${JSON.stringify(url.protocol)} is not visited; allowed are http: and https:`);
  }
  if (url.username !== '' || url.password !== '') {
    return refused('url carries a user name or password; put an Authorization header into headers instead');
  }
  if (isBare(trimmed) && !url.hostname.includes('.') && url.hostname !== 'localhost' && !url.hostname.startsWith('['))
    return refused(
      `url ${JSON.stringify(shorten(trimmed))} is not an address; write http:// before a name without a dot`,
    );
  if (url.hostname === '') return refused(`url ${JSON.stringify(shorten(trimmed))} has no host`);
  return { kind: 'url', url: spell(url), host: url.hostname };
}

/** Without a scheme. "example.org:8080/a" looks like one to the parser; a digit after the colon says it is a port. */
function isBare(text: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:/i.test(text) || /^[^/]*\.?[^/]*:\d+(\/|$|\?|#)/.test(text);
}

function parse(text: string): URL | undefined {
  return URL.parse(isBare(text) ? `https://${text.replace(/^\/\//, '')}` : text) ?? undefined;
}

/** The same resource in one spelling; the URL is already parsed. */
function spell(url: URL): string {
  const path = tidyEscapes(url.pathname);
  const query = url.search === '' ? '' : tidyEscapes(url.search);
  return `${url.protocol}//${url.host}${path}${query}`;
}

function tidyEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : whole.toUpperCase();
  });
}

const shorten = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Whose politeness counts: the registrable domain (private suffixes such as github.io apart), else the host itself. */
export function siteOf(host: string): string {
  let site = sitesKnown.get(host);
  if (site === undefined) {
    site = registrable(host);
    // Every request asks; the oldest answer makes room for the newest.
    if (sitesKnown.size >= sitesKnownMax) sitesKnown.delete(sitesKnown.keys().next().value!);
    sitesKnown.set(host, site);
  }
  return site;
}

const sitesKnown = new Map<string, string>();
/** About 200 bytes each. */
const sitesKnownMax = 10_000;

function registrable(host: string): string {
  const bare = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return getDomain(bare, { allowPrivateDomains: true }) ?? serverOf(bare);
}
