/** Where a page leads: one line a link, its text and its absolute address. */
import { isTag, type AnyNode } from 'domhandler';
import { elementNamed, textInside, walk } from './tree.ts';

/** Parameters that name a campaign or a visitor, never a document. */
const tracking = /^(utm_\w+|fbclid|gclid|dclid|msclkid|mc_cid|mc_eid|igshid|yclid|_hs(enc|mi)|ref_src|spm|s?cid)$/i;

export function withoutTracking(url: URL): URL {
  const names = [...new Set(url.searchParams.keys())].filter((name) => tracking.test(name));
  for (const name of names) url.searchParams.delete(name);
  return url;
}

function absolute(reference: string, base: string): URL | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base) : undefined;
}

export function linksOf(root: AnyNode, pageUrl: string, keepTracking: boolean): string {
  const stated = elementNamed(root, 'base')?.attribs['href'];
  const base = (stated && absolute(stated, pageUrl)?.href) || pageUrl;
  const lines: string[] = [];
  const seen = new Set<string>();
  walk(root, (node) => {
    if (!isTag(node) || (node.name !== 'a' && node.name !== 'area')) return;
    const reference = node.attribs['href'];
    const url = reference === undefined ? undefined : absolute(reference, base);
    if (!url || !/^(https?|ftp|mailto):$/.test(url.protocol)) return;
    url.hash = '';
    const address = (keepTracking ? url : withoutTracking(url)).href;
    const text = textInside(node).replace(/\s+/g, ' ').trim();
    const line = text ? `${text} <${address}>` : `<${address}>`;
    if (!seen.has(line)) lines.push(line);
    seen.add(line);
  });
  return lines.join('\n');
}
