/**
 * The hub that an answer names for WebSub (W3C, 4): in its Link headers, else in the markup of a feed or page, where only
 * the beginning counts. The topic is what the answer calls itself (`self`), else where it came from.
 */
import type { Hub } from '../values/observation.ts';

/** Links stand at the top of feeds and in the head of pages. */
const markupBytesMax = 64 * 2 ** 10;

export function hubOf(link: string | undefined, body: Uint8Array, url: string): Hub | undefined {
  if (link === undefined && !namesHub(body)) return undefined;
  const links = link === undefined ? [] : headerLinks(link);
  if (!links.some(({ rel }) => rel.includes('hub'))) links.push(...markupLinks(body));
  const find = (name: string): string | undefined => {
    const href = links.find(({ rel }) => rel.includes(name))?.href;
    const parsed = href === undefined ? undefined : URL.parse(href, url);
    return parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:') ? parsed.href : undefined;
  };
  const hub = find('hub');
  return hub === undefined ? undefined : { hub, topic: find('self') ?? url };
}

interface Link {
  readonly href: string;
  readonly rel: readonly string[];
}

function headerLinks(text: string): Link[] {
  return [...text.slice(0, 8192).matchAll(/<([^<>]*)>([^<]*)/g)].flatMap(([, href, parameters]) => {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters!);
    return rel ? [{ href: href!, rel: (rel[1] ?? rel[2] ?? '').toLowerCase().split(/\s+/) }] : [];
  });
}

const quotedHub = ['"hub"', "'hub'"].map((quoted) => Buffer.from(quoted));

const headOf = (body: Uint8Array): Buffer =>
  Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, markupBytesMax));

/** Nearly every answer ends here: no text is made of it. */
function namesHub(body: Uint8Array): boolean {
  const head = headOf(body);
  return head.includes(quotedHub[0]!) || head.includes(quotedHub[1]!);
}

function markupLinks(body: Uint8Array): Link[] {
  if (!namesHub(body)) return [];
  return [
    ...headOf(body)
      .toString('latin1')
      .matchAll(/<(?:[a-z0-9]+:)?link\b[^<>]*>/gi),
  ].flatMap(([tag]) => {
    const [rel, href] = [attribute(tag, 'rel'), attribute(tag, 'href')];
    return rel === undefined || href === undefined ? [] : [{ href, rel: rel.toLowerCase().split(/\s+/) }];
  });
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag);
  return (found?.[1] ?? found?.[2])?.replaceAll('&amp;', '&').trim();
}
