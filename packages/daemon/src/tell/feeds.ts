/** The log of changes as Atom (RFC 4287) and JSON Feed 1.1. */
import type { Change } from '../values/change.ts';

export interface FeedHead {
  readonly title: string;
  /** Where this feed is to be had. */
  readonly selfUrl: string;
  readonly homeUrl: string;
}

/** Control characters are not allowed in XML at all, whatever a page's title holds. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}

const time = (ms: number): string => new Date(ms).toISOString();
const idOf = (change: Change): string => `urn:revisit:change:${change.id}`;
const titleOf = (change: Change): string => change.title ?? change.url;

function linkOf(change: Change, head: FeedHead): string {
  return change.toVersion === undefined
    ? change.url
    : `${head.homeUrl}/api/pages/${change.pageId}/diff?from=${change.fromVersion ?? change.toVersion}&to=${change.toVersion}`;
}

export function atomFeed(head: FeedHead, changes: readonly Change[]): string {
  const entries = changes.map(
    (change) => `  <entry>
    <id>${idOf(change)}</id>
    <title>${xml(`${titleOf(change)}: ${change.summary}`)}</title>
    <updated>${time(change.atMs)}</updated>
    <link rel="alternate" href="${xml(change.url)}"/>
    <link rel="related" href="${xml(linkOf(change, head))}"/>
${change.tags.map((tag) => `    <category term="${xml(tag)}"/>\n`).join('')}    <summary>${xml(change.summary)}</summary>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${xml(head.selfUrl)}</id>
  <title>${xml(head.title)}</title>
  <updated>${time(changes[0]?.atMs ?? 0)}</updated>
  <author><name>Revisit</name></author>
  <link rel="self" href="${xml(head.selfUrl)}"/>
${entries.join('')}</feed>
`;
}

export function jsonFeed(head: FeedHead, changes: readonly Change[]): Record<string, unknown> {
  return {
    version: 'https://jsonfeed.org/version/1.1',
    title: head.title,
    home_page_url: head.homeUrl,
    feed_url: head.selfUrl,
    items: changes.map((change) => ({
      id: idOf(change),
      url: change.url,
      external_url: linkOf(change, head),
      title: `${titleOf(change)}: ${change.summary}`,
      content_text: change.summary,
      date_published: time(change.atMs),
      tags: change.tags,
    })),
  };
}
