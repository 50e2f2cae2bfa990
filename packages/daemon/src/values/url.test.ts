import { expect, test } from 'vitest';
import { normaliseUrl, siteOf } from './url.ts';

const spelled = (text: string) => {
  const result = normaliseUrl(text);
  return result.kind === 'url' ? result.url : result.fault.code;
};

test.each([
  ['HTTP://Example.ORG:80/a/../b/./c', 'http://example.org/b/c'],
  ['https://example.org:443', 'https://example.org/'],
  ['example.org/x', 'https://example.org/x'],
  ['example.org:8080/x', 'https://example.org:8080/x'],
  ['localhost:3000', 'https://localhost:3000/'],
  ['//example.org/x', 'https://example.org/x'],
  ['https://example.org/a#part', 'https://example.org/a'],
  ['https://example.org/%7euser/%e4%BD%a0', 'https://example.org/~user/%E4%BD%A0'],
  ['https://example.org/a%2fb', 'https://example.org/a%2Fb'],
  ['https://example.org/a?', 'https://example.org/a'],
  ['https://example.org/a/?b=2&a=1', 'https://example.org/a/?b=2&a=1'],
  [' https://bücher.example/ü ', 'https://xn--bcher-kva.example/%C3%BC'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['http://[::1]:8080/', 'http://[::1]:8080/'],
])('%s is spelled %s', (text, url) => {
  expect(spelled(text)).toBe(url);
  expect(spelled(url)).toBe(url);
});

test.each([
  '',
  '   ',
  'file:///etc/passwd',
  'ftp://example.org/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'http://',
  'https://u:p@example.org/',
  'https://u@example.org/',
  `https://example.org/${'x'.repeat(5000)}`,
  'http://exa mple.org/',
])('%j is refused', (text) => {
  expect(spelled(text)).toBe('url-refused');
});

test('a refusal never repeats a password', () => {
  const result = normaliseUrl('https://user:s3cret@example.org/');
  expect(JSON.stringify(result)).not.toContain('s3cret');
});

test.each([
  ['www.example.co.uk', 'example.co.uk'],
  ['a.b.example.org', 'example.org'],
  ['someone.github.io', 'someone.github.io'],
  ['localhost', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '::1'],
  ['[::ffff:127.0.0.1]', '127.0.0.1'],
  ['[::ffff:7f00:1]', '127.0.0.1'],
  ['[0:0:0:0:0:FFFF:7f00:1]', '127.0.0.1'],
  ['[64:ff9b::c000:221]', '192.0.2.33'],
  ['[::fffe:7f00:1]', '::fffe:7f00:1'],
  ['Example.ORG.', 'example.org'],
])('the site of %s is %s', (host, site) => {
  expect(siteOf(host)).toBe(site);
});
