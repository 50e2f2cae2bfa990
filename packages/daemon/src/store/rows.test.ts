import { expect, test } from 'vitest';
import { usualSettings } from '../values/page.ts';
import { pageOf, settingsText } from './rows.ts';

test('a page that was kept under an IPv6 spelling of its IPv4 server belongs to the site that it has now', () => {
  const settings = settingsText({ ...usualSettings, url: '' });
  const row = { pk: 1, id: 'a', url: 'http://[::ffff:7f00:1]/', selection: 'text', settings, added_at: 0 };
  expect(pageOf({ ...row, site: '::ffff:7f00:1' })).toMatchObject({ url: row.url, site: '127.0.0.1' });
  expect(pageOf({ ...row, site: 'example.org' }).site).toBe('example.org');
});
