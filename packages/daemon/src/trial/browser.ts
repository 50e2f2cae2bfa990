/** A real browser before a daemon: goes to views, waits until they are drawn, and writes down whatever troubles it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import { expect } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { accessibilityComplaints } from './accessibility.ts';

export const executablePath = locate('chromium');
if (!executablePath) {
  if (process.env['CI']) throw new Error('chromium is missing, and with CI=true that is a failure');
  process.stderr.write('SKIPPED: chromium is missing, so the dashboard is not tried in a browser\n');
}

const dashboard = join(import.meta.dirname, '../../../dashboard');
const flags =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'.split(
    ' ',
  );

/** Built anew only when a source is younger: others may be reading what is there. */
function buildWhenOld(): void {
  const built = join(dashboard, 'dist/index.html');
  const sources = readdirSync(join(dashboard, 'src'), { recursive: true, encoding: 'utf8' }).map((file) =>
    join(dashboard, 'src', file),
  );
  const youngest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
  if (!existsSync(built) || statSync(built).mtimeMs < youngest)
    execFileSync(process.execPath, [join(import.meta.dirname, '../../../../house/build.ts')], { stdio: 'ignore' });
}

export const looks = [
  { colorScheme: 'light', width: 1200 },
  { colorScheme: 'dark', width: 390 },
] as const;

/** Labels, contrast, focus, and nothing wider than the window. */
export async function complains(on: Page, what: string): Promise<void> {
  expect(await on.evaluate(accessibilityComplaints), what).toEqual([]);
  const wide = await on.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide, `${what} is wider than the window`).toBeLessThanOrEqual(0);
}

/** In light and wide, then dark and narrow. */
export async function fitForAll(on: Page, view: string): Promise<void> {
  for (const look of looks) {
    await on.emulateMedia({ colorScheme: look.colorScheme });
    await on.setViewportSize({ width: look.width, height: 800 });
    await complains(on, `${view} ${look.colorScheme}`);
  }
}

export class Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the console, the page or a dialog said, and what was asked of others than the daemon. */
  readonly trouble: string[] = [];
  readonly #url: string;
  readonly #browser: Browser;
  readonly #pending = new Set<unknown>();

  private constructor(url: string, browser: Browser, context: BrowserContext, page: Page) {
    this.#url = url;
    this.#browser = browser;
    this.context = context;
    this.page = page;
    this.#listen();
  }

  /** To the daemon at this address. */
  static async open(url: string): Promise<Visitor> {
    buildWhenOld();
    const browser = await chromium.launch({ executablePath: executablePath!, args: flags });
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
    return new Visitor(url, browser, context, await context.newPage());
  }

  #listen(): void {
    const { page, trouble } = this;
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') trouble.push(message.text());
    });
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('dialog', (dialog) => {
      trouble.push(`a dialog opened: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('requestfinished', (request) => this.#pending.delete(request));
    page.on('requestfailed', (request) => this.#pending.delete(request));
    page.on('request', (request) => {
      // The stream of changes never ends.
      if (!request.url().includes('/stream')) this.#pending.add(request);
      if (!request.url().startsWith(this.#url) && !/^(about|data|blob):/.test(request.url()))
        trouble.push(`asked ${request.url()}`);
    });
  }

  async go(hash: string): Promise<void> {
    await this.page.goto('about:blank');
    await this.page.goto(`${this.#url}/${hash}`, { waitUntil: 'domcontentloaded' });
    await this.page.locator('main h1').waitFor();
  }

  #frame(): Promise<unknown> {
    return this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  }

  /** Everything asked for has come and has been drawn, and what that asked for too. */
  async settled(): Promise<void> {
    for (let still = 0; still < 2; still++) {
      await this.#frame();
      if (this.#pending.size > 0) still = -1;
      await expect.poll(() => this.#pending.size, { interval: 10 }).toBe(0);
    }
  }

  /** To another view as a link leads there, without loading the dashboard anew. */
  async turn(hash: string): Promise<void> {
    await this.page.evaluate((to) => void (location.hash = to), hash);
    await this.settled();
    await this.page.locator('main h1').waitFor();
  }

  said(): Promise<string> {
    return this.page.locator('main').innerText();
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
