/** Tells the format of a file from its first bytes; a person may say it instead. */

export const formats = ['opml', 'sitemap', 'urls', 'urlwatch', 'webchanges', 'changedetection', 'revisit'] as const;
export type Format = (typeof formats)[number];

export function recognise(head: string): Format {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('PK\u0003\u0004') || text.startsWith('PK\u0005\u0006')) return 'changedetection';
  if (text.startsWith('{"revisit":')) return 'revisit';
  if (text.startsWith('<')) return /<(\w+:)?opml[\s>]/i.test(text) ? 'opml' : 'sitemap';
  if (/^\s*-?\s*(url|navigate|command|shell|kind)\s*:\s/m.test(text)) return 'urlwatch';
  return 'urls';
}
