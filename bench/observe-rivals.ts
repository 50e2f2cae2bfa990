/**
 * The peers of `bench/observe`, each asked to check the same pages on the same server, with every wait switched off. What a check
 * of ours does: fetch the page, hold it against the version before, keep a new version with its difference and words, a line of
 * history for every look, and what was learned. What theirs do, each by its own documented means:
 *
 * - Scrapy: fetch, parse, take the text, fingerprint it. It compares with nothing and keeps nothing, as it has no store of its own.
 * - Crawlee (CheerioCrawler): fetch, parse, take the text, hold it against what its key-value store has of the page, and keep it
 *   there where it differs, with a line in its dataset. Queue and stores are on the disk, as they are by default. Timed is the
 *   second run of one process, when all pages are known and a twentieth has changed.
 * - urlwatch: fetch, text by its `html2text`, compare with its database, keep what differs. A process for each run of cron.
 *
 * All get more than their defaults: 64 requests at once, no sessions, cookies or robots.txt.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Rival {
  readonly name: string;
  /** Seconds for each check, or why there are none. */
  readonly measure: (urls: readonly string[]) => number | string;
  /** How it was run, where that is not plain. */
  readonly how?: string;
}

function apt(program: string, debian: string): string | undefined {
  if (existsSync(program)) return undefined;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return `${debian} is not installed`;
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  spawnSync('apt-get', ['update'], options);
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', debian], options);
  return existsSync(program) ? undefined : `${debian} cannot be installed`;
}

function within<Value>(work: (folder: string) => Value): Value {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const spider = `
import hashlib, json, scrapy
from scrapy.crawler import CrawlerProcess
urls = json.load(open('urls.json'))
class Pages(scrapy.Spider):
    name = 'pages'
    custom_settings = dict(CONCURRENT_REQUESTS=64, CONCURRENT_REQUESTS_PER_DOMAIN=64, ROBOTSTXT_OBEY=False, LOG_LEVEL='ERROR',
        RETRY_ENABLED=False, COOKIES_ENABLED=False, TELNETCONSOLE_ENABLED=False, DUPEFILTER_CLASS='scrapy.dupefilters.BaseDupeFilter')
    seen = 0
    def start_requests(self):
        for url in urls: yield scrapy.Request(url)
    def parse(self, response):
        Pages.seen += 1
        hashlib.sha256(' '.join(response.css('body ::text').getall()).encode()).hexdigest()
process = CrawlerProcess()
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
print(json.dumps(dict(seen=Pages.seen, seconds=(stats['finish_time'] - stats['start_time']).total_seconds())))
`;

const scrapy: Rival = {
  name: 'Scrapy',
  measure: (urls) =>
    within((folder) => {
      const missing = apt('/usr/bin/scrapy', 'python3-scrapy');
      if (missing !== undefined) return missing;
      const some = urls.slice(0, 3000);
      writeFileSync(join(folder, 'urls.json'), JSON.stringify(some));
      writeFileSync(join(folder, 'pages.py'), spider);
      const done = spawnSync('/usr/bin/python3', ['pages.py'], { cwd: folder, encoding: 'utf8' });
      const result = /\{.*\}/.exec(done.stdout)?.[0];
      if (result === undefined) return `Scrapy failed: ${done.stderr.slice(-200)}`;
      const { seen, seconds } = JSON.parse(result) as { seen: number; seconds: number };
      return seen === some.length ? seconds / seen : `Scrapy saw ${seen} of ${some.length}`;
    }),
};

const crawleeScript = `
import { readFileSync } from 'node:fs';
import { CheerioCrawler, Dataset, KeyValueStore, log } from '@crawlee/cheerio';
log.setLevel(log.LEVELS.OFF);
const urls = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pages = await KeyValueStore.open('pages');
let seen = 0, changed = 0;
const crawler = new CheerioCrawler({ minConcurrency: 64, maxConcurrency: 64, maxRequestRetries: 0, useSessionPool: false,
  requestHandler: async ({ request, $ }) => {
    const text = $('body').text();
    const key = request.url.replace(/[^a-zA-Z0-9]/g, '-');
    const before = await pages.getValue(key);
    seen++;
    if (before === text) return;
    await pages.setValue(key, text, { contentType: 'text/plain' });
    if (before === null) return;
    changed++;
    await Dataset.pushData({ url: request.url, at: Date.now() });
  },
});
await crawler.run(urls);
seen = changed = 0;
await (await fetch(new URL('/advance', urls[0]))).text();
const begin = performance.now();
await crawler.run(urls);
process.stdout.write(JSON.stringify({ seen, changed, seconds: (performance.now() - begin) / 1000 }));
`;

const crawleePages = 2000;

const crawlee: Rival = {
  name: 'Crawlee',
  how: 'queue, texts and changes in its own stores',
  measure: (urls) => {
    const home = join(import.meta.dirname, '.rivals');
    if (!existsSync(join(home, 'node_modules/@crawlee/cheerio'))) {
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'package.json'), '{"private": true, "type": "module"}\n');
      const options = { cwd: home, encoding: 'utf8' } as const;
      spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '@crawlee/cheerio@3.18'], options);
      if (!existsSync(join(home, 'node_modules/@crawlee/cheerio'))) return 'Crawlee cannot be installed';
    }
    writeFileSync(join(home, 'crawl.js'), crawleeScript);
    return within((folder) => {
      writeFileSync(join(folder, 'urls.json'), JSON.stringify(urls.slice(0, crawleePages)));
      const args = [join(home, 'crawl.js'), 'urls.json'];
      const done = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
      const result = /\{.*\}/.exec(done.stdout)?.[0];
      if (result === undefined) return `Crawlee failed: ${done.stderr.slice(-200)}`;
      const { seen, changed, seconds } = JSON.parse(result) as { seen: number; changed: number; seconds: number };
      const whole = seen === crawleePages && changed === crawleePages / 20;
      return whole ? seconds / seen : `Crawlee saw ${seen} pages, ${changed} of them changed`;
    });
  },
};

const urlwatchPages = 50;

const urlwatch: Rival = {
  name: 'urlwatch',
  how: `as cron runs it, ${urlwatchPages} pages a run, its start included`,
  measure: (urls) =>
    within((folder) => {
      const missing = apt('/usr/bin/urlwatch', 'urlwatch');
      if (missing !== undefined) return missing;
      const run = (some: readonly string[]) => {
        const jobs = some
          .map((url, index) => `name: page ${index}\nurl: ${url}\nfilter:\n  - html2text: strip_tags\n`)
          .join('---\n');
        writeFileSync(join(folder, 'urls.yaml'), jobs);
        writeFileSync(join(folder, 'config.yaml'), 'report:\n  stdout:\n    enabled: false\n');
        const args = ['--urls', 'urls.yaml', '--config', 'config.yaml', '--cache', 'cache.db', '--hooks', 'hooks.py'];
        const begin = performance.now();
        const done = spawnSync('/usr/bin/urlwatch', args, { cwd: folder, encoding: 'utf8' });
        return { seconds: (performance.now() - begin) / 1000, status: done.status, text: done.stderr };
      };
      // As its users run it: from cron, a process for each run, tens of pages in it. There is no way to keep it running, so its
      // start belongs to the check as our loop's idle time would to ours.
      const some = urls.slice(0, urlwatchPages);
      const first = run(some);
      if (first.status !== 0) return `urlwatch failed: ${first.text.slice(-200)}`;
      const runs = Array.from({ length: 3 }, () => run(some).seconds);
      return Math.min(...runs) / some.length;
    }),
};

export const rivals: readonly (Rival & { readonly times: number })[] = [
  { ...scrapy, times: 10 },
  { ...crawlee, times: 20 },
  { ...urlwatch, times: 50 },
];
