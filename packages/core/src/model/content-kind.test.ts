import { expect, test } from 'vitest';
import { kindOfMediaType, kindOfName } from './content-kind.ts';

test.each([
  ['https://example.org/feed.xml', 'xml'],
  ['https://example.org/news.RSS?page=2.pdf#a.zip', 'feed'],
  ['https://example.org/a.b/index', 'unknown'],
  ['https://example.zip', 'unknown'],
  ['https://example.zip?x.pdf', 'unknown'],
  ['https://example.org/', 'unknown'],
  ['https://example.org/.json', 'unknown'],
  ['https://example.org/v1.2', 'unknown'],
  ['https://example.org/v1.2/report.pdf', 'document'],
  ['sf-tree-history/Street_Tree_List.csv', 'table'],
  ['bugs.telegram.org.html', 'html'],
  ['css-color-4', 'unknown'],
])('%s ends like %s', (name, kind) => {
  expect(kindOfName(name)).toBe(kind);
});

test.each([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'html'],
  ['application/atom+xml', 'feed'],
  ['application/feed+json', 'feed'],
  ['application/ld+json', 'json'],
  ['text/xml', 'xml'],
  ['image/svg+xml', 'image'],
  ['text/csv', 'table'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'table'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'document'],
  ['application/pdf', 'document'],
  ['text/javascript', 'script'],
  ['text/plain', 'text'],
  ['application/zip', 'archive'],
  ['application/octet-stream', 'unknown'],
])('%s is %s', (type, kind) => {
  expect(kindOfMediaType(type)).toBe(kind);
});
