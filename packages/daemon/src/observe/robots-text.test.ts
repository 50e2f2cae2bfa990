import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAllowed, parseRobots } from './robots-text.ts';

const allowed = (file: string, path: string, token = 'Revisit') => isAllowed(parseRobots(file, token), path);

test('the group that names us counts, all its parts together, and the others do not', () => {
  const file = [
    'User-agent: *',
    'Disallow: /',
    'User-Agent: other',
    'user-agent: REVISIT/2.0',
    'Disallow: /a',
    '',
    'User-agent: revisit',
    'Disallow: /b',
  ].join('\n');
  expect(allowed(file, '/')).toBe(true);
  expect(allowed(file, '/a')).toBe(false);
  expect(allowed(file, '/b/c')).toBe(false);
  expect(allowed(file, '/a', 'other')).toBe(false);
  expect(allowed(file, '/b', 'other')).toBe(true);
  expect(allowed(file, '/x', 'third')).toBe(false);
});

test('a name is matched whole, not by its beginning', () => {
  expect(allowed('User-agent: Rev\nDisallow: /', '/')).toBe(true);
  expect(allowed('User-agent: RevisitMore\nDisallow: /', '/')).toBe(true);
});

test('a group that names us and says nothing allows everything', () => {
  expect(allowed('User-agent: *\nDisallow: /\n\nUser-agent: Revisit\nDisallow:', '/x')).toBe(true);
});

test('the longest pattern decides and allow wins a tie (RFC 9309, 5.2)', () => {
  const file = 'User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\nDisallow: /';
  expect(allowed(file, '/example/page/x')).toBe(true);
  expect(allowed(file, '/example/page/disallowed.gif')).toBe(false);
  expect(allowed(file, '/other')).toBe(false);
  expect(allowed('User-agent: *\nDisallow: /page\nAllow: /page', '/page')).toBe(true);
  expect(allowed('User-agent: *\nAllow: /p\nDisallow: /', '/page')).toBe(true);
  expect(allowed('User-agent: *\nAllow: /page\nDisallow: /*.htm', '/page.htm')).toBe(false);
});

test.each([
  ['/fish', '/fish.html', true],
  ['/fish', '/Fish', false],
  ['/fish*', '/fishheads', true],
  ['/fish/', '/fish', false],
  ['/*.php', '/folder/any.php.file.html', true],
  ['/*.php$', '/filename.php', true],
  ['/*.php$', '/filename.php?x', false],
  ['/fish*.php', '/fishheads/catfish.php?id=1', true],
  ['/fish*.php', '/Fish.PHP', false],
  ['/a*b*c$', '/axbxbxc', true],
  ['/a*b*c$', '/axbxbxcx', false],
  ['/ab*b$', '/ab', false],
  ['/$', '/', true],
  ['/$', '/a', false],
  ['*', '/anything', true],
  ['*/private', '/x/private/y', true],
  ['/x?y=', '/x?y=1', true],
])('disallow %s on %s matches: %s', (pattern, path, matches) => {
  expect(allowed(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(!matches);
});

test('escapes are compared in one spelling (RFC 9309, 2.2.2)', () => {
  expect(allowed('User-agent: *\nDisallow: /foo/bar/ツ', '/foo/bar/%E3%83%84')).toBe(false);
  expect(allowed('User-agent: *\nDisallow: /foo/bar/%e3%83%84', '/foo/bar/%E3%83%84')).toBe(false);
  expect(allowed('User-agent: *\nDisallow: /foo/bar/%62%61%7A', '/foo/bar/baz')).toBe(false);
  expect(allowed('User-agent: *\nDisallow: /a%2Fb', '/a/b')).toBe(true);
  expect(allowed('User-agent: *\nDisallow: /a%2fb', '/a%2Fb')).toBe(false);
});

test.each([
  ['/foo/bar?baz=quz', '/foo/bar?baz=quz'],
  ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
  ['/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https://foo.bar'],
  ['/foo/bar?baz=https%3a%2f%2ffoo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
  ['/path/file-with-a-%2A.html', '/path/file-with-a-*.html'],
  ['/path/file-with-a-%2A.html', '/path/file-with-a-%2a.html'],
  ['/path/foo-%24', '/path/foo-$'],
  ['/path/foo-%24$', '/path/foo-$'],
  ['/a;b=(c)', '/a%3Bb%3D%28c%29'],
  ['/*?q=%40me', '/x?q=@me'],
  ['*u=a%2Fb', '/x?u=a%2Fb'],
  ['*%26b', '/x?u=a%26b'],
  ['*/private', '/x?u=/private'],
  ['/a|b', '/a%7Cb'],
  ['/100%', '/100%25'],
])('disallow %s stops %s (RFC 9309, 2.2.2 and 2.2.3)', (pattern, path) => {
  expect(allowed(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(false);
});

test.each([
  ['/path/file-with-a-%2A.html', '/path/file-with-a-b.html'],
  ['/path/foo-%24', '/path/foo-'],
  ['/a%2Fb', '/a/b'],
  ['/a%3Fb', '/a?b'],
  ['/x?a=b%26c=d', '/x?a=b&c=d'],
  ['/x?a=b%3Dc', '/x?a=b=c'],
  ['/x?a=b%2Bc', '/x?a=b+c'],
])('disallow %s does not mean %s, which is another place', (pattern, path) => {
  expect(allowed(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(true);
});

test('a rule is as long as what it means, however it is spelled', () => {
  expect(allowed('User-agent: *\nDisallow: /x?u=%2F%2F\nAllow: /x?u=//', '/x?u=//')).toBe(true);
  expect(allowed('User-agent: *\nAllow: /x?u=//\nDisallow: /x?u=//a', '/x?u=%2F%2Fa')).toBe(false);
});

test('robots.txt itself is always allowed', () => {
  expect(allowed('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true);
});

test('marks, line ends, comments, blanks and nonsense are survived', () => {
  const file =
    '\uFEFFUSER-AGENT : *# all\r\n  disallow :  /a # not this\rnonsense\r\n:\r\nDisallow\r\nAllow: /a/b\n\0\ud800';
  expect(allowed(file, '/a')).toBe(false);
  expect(allowed(file, '/a/b')).toBe(true);
  expect(allowed('Disallow: /\nUser-agent: other\nDisallow: /', '/')).toBe(true);
});

test('Crawl-delay among the names of a group ends nothing, and is for those above it (RFC 9309, 2.2.4)', () => {
  const file = 'User-agent: *\nCrawl-delay: 5\nUser-agent: Googlebot\nDisallow: /page';
  expect(allowed(file, '/page')).toBe(false);
  expect(allowed(file, '/page', 'Googlebot')).toBe(false);
  expect(parseRobots(file, 'Revisit').crawlDelayMs).toBe(5_000);
  expect(parseRobots(file, 'Googlebot').crawlDelayMs).toBeUndefined();
  const bing = 'User-agent: bingbot\nCrawl-delay: 10\nUser-agent: *\nDisallow: /admin';
  expect(parseRobots(bing, 'Revisit').crawlDelayMs).toBeUndefined();
  expect(parseRobots(bing, 'bingbot').crawlDelayMs).toBe(10_000);
  expect(allowed(bing, '/admin')).toBe(false);
  expect(allowed(bing, '/admin', 'bingbot')).toBe(false);
});

test('of several Crawl-delays in a group each is for those named since the one before', () => {
  const file = 'User-agent: bingbot\nCrawl-delay: 10\nUser-agent: *\nCrawl-delay: 2\nDisallow: /a';
  expect(parseRobots(file, 'bingbot').crawlDelayMs).toBe(10_000);
  expect(parseRobots(file, 'Revisit').crawlDelayMs).toBe(2_000);
  const after = 'User-agent: bingbot\nDisallow: /a\nCrawl-delay: 10\nUser-agent: *\nDisallow: /b';
  expect(parseRobots(after, 'bingbot').crawlDelayMs).toBe(10_000);
  expect(allowed(after, '/b', 'bingbot')).toBe(true);
});

test('Crawl-delay belongs to its group, Sitemap to the whole file', () => {
  const file =
    'Sitemap: https://x.org/a.xml\nUser-agent: *\nCrawl-delay: 2.5\nSitemap: https://x.org/b.xml\nDisallow: /a';
  expect(parseRobots(file, 'Revisit')).toMatchObject({
    crawlDelayMs: 2500,
    sitemaps: ['https://x.org/a.xml', 'https://x.org/b.xml'],
  });
  expect(parseRobots('User-agent: *\nCrawl-delay: -1', 'Revisit').crawlDelayMs).toBeUndefined();
  expect(parseRobots('User-agent: *\nCrawl-delay: 9e9', 'Revisit').crawlDelayMs).toBeUndefined();
  expect(parseRobots('User-agent: *\nCrawl-delay: 9999999', 'Revisit').crawlDelayMs).toBe(86_400_000);
});

test('matching agrees with a backtracking oracle', () => {
  const piece = fc.array(fc.constantFrom('a', 'b', '*', '/'), { maxLength: 6 }).map((parts) => `/${parts.join('')}`);
  const path = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 10 }).map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(piece, fc.boolean(), path, (pattern, anchored, path) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}${anchored ? '$' : ''}`);
      expect(allowed(`User-agent: *\nDisallow: ${pattern}${anchored ? '$' : ''}`, path)).toBe(!expression.test(path));
    }),
    { seed: 7, numRuns: 2000 },
  );
});

test('half a megabyte of wildcards built to backtrack costs one pass a rule', () => {
  const rule = `Disallow: /${'a*'.repeat(30)}b$\n`;
  const file = `User-agent: *\n${rule.repeat(Math.floor((500 * 1024) / rule.length))}`;
  const robots = parseRobots(file, 'Revisit');
  expect(robots.rules.length).toBeGreaterThan(5000);
  // Nor is a path of nothing but escapes looked through more than twice a rule.
  expect(isAllowed(robots, `/${'%2A'.repeat(2000)}?${'%2F'.repeat(2000)}`)).toBe(true);
  // A backtracking matcher would not come back from the first rule within the age of the universe.
  expect(isAllowed(robots, `/${'a'.repeat(2000)}`)).toBe(true);
});
