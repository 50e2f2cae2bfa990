/**
 * `npm run bench detect`: what one look at a 200 KB page costs from its bytes to its row, changed and unchanged, and what a
 * thousand versions of it take on disk. The rival of the storage is the sum of the versions; of the times, the numbers in
 * the design.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { random, type Random } from '@revisit/core';
import type { Bench, Measurement } from '../house/bench.ts';
import { detect, type Detected, type Previous } from '../packages/daemon/src/detect/detect.ts';
import { freshState } from '../packages/daemon/src/store/rows.ts';
import { openSqlite, type SqliteStore } from '../packages/daemon/src/store/sqlite.ts';
import type { Look } from '../packages/daemon/src/values/look.ts';
import { usualSettings } from '../packages/daemon/src/values/page.ts';

const bytesWanted = 200_000;
const syllables = 'ka lo mi ter ra nu vel dor is an fen go shi pra tul em bo ri sa kel'.split(' ');

function word(luck: Random): string {
  let text = '';
  for (let i = 1 + Math.floor(luck() * 3); i > 0; i--) text += syllables[Math.floor(luck() * syllables.length)];
  return text;
}

const sentence = (luck: Random): string =>
  `${Array.from({ length: 8 + Math.floor(luck() * 10) }, () => word(luck)).join(' ')}.`;

/** A page as pages are: navigation, headings, paragraphs with links, a table, scripts. */
class LivingPage {
  readonly #luck: Random;
  readonly #paragraphs: string[] = [];

  constructor(seed: number) {
    this.#luck = random(seed);
    while (this.html().length < bytesWanted) for (let i = 0; i < 20; i++) this.#paragraphs.push(this.#paragraph());
  }

  #paragraph(): string {
    const [first, second, third] = [sentence(this.#luck), sentence(this.#luck), sentence(this.#luck)];
    return `<div class="entry"><h3>${word(this.#luck)} ${word(this.#luck)}</h3><p>${first} <a href="/${word(this.#luck)}">${second}</a> ${third}</p></div>`;
  }

  /** One sentence somewhere becomes another. */
  edit(): void {
    const at = Math.floor(this.#luck() * this.#paragraphs.length);
    this.#paragraphs[at] = this.#paragraphs[at]!.replace(/<p>[^.]*\./, `<p>${sentence(this.#luck)}`);
  }

  html(): string {
    return `<!doctype html><html><head><title>Ledger</title><script>var a=1;</script></head><body><nav><a href="/">Home</a></nav><main>\n${this.#paragraphs.join('\n')}\n</main></body></html>`;
  }
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

/** What the loop does with an answer, without the network and the policy. */
class Watcher {
  readonly #store: SqliteStore;
  #id = '';
  #state: string | undefined;
  #version = 0;
  #atMs = 1_000_000;

  constructor(store: SqliteStore) {
    this.#store = store;
  }

  async add(): Promise<void> {
    const kept = await this.#store.addPages([
      {
        url: 'https://a.example/',
        site: 'a.example',
        ...usualSettings,
        addedAtMs: 0,
      },
    ]);
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    this.#id = kept.value[0]!.page.page.id;
  }

  async look(body: Uint8Array): Promise<Detected> {
    const before = this.#version;
    const text = () => this.#store.versionText(this.#id, before);
    const previous: Previous | undefined =
      this.#state === undefined ? undefined : { state: this.#state, lookedAtMs: this.#atMs, last: text, told: text };
    this.#atMs += 3_600_000;
    const seen = await detect({
      select: { kind: 'text' },
      options: {},
      body,
      mediaType: 'text/html',
      charset: 'utf-8',
      url: 'https://a.example/',
      atMs: this.#atMs,
      previous,
    });
    this.#state = seen.state;
    await this.#keep(seen);
    return seen;
  }

  async #keep({ detection, state }: Detected): Promise<void> {
    const projection = detection.kind === 'first' || detection.kind === 'changed' ? detection.projection : undefined;
    if (projection) this.#version++;
    const look: Look = {
      pageId: this.#id,
      probeId: `probe-${this.#atMs}`,
      atMs: this.#atMs,
      endedAtMs: this.#atMs + 20,
      kind: projection ? 'changed' : 'unchanged',
      bytesReceived: 100,
      state: {
        ...freshState,
        status: 'present',
        version: this.#version,
        toldVersion: this.#version,
        detectState: state,
      },
      ...(projection ? { projection } : {}),
    };
    const kept = await this.#store.commit([look]);
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
  }
}

async function times(store: SqliteStore, say: (line: string) => void): Promise<Measurement[]> {
  const [page, watcher, encoder] = [new LivingPage(1), new Watcher(store), new TextEncoder()];
  await watcher.add();
  await watcher.look(encoder.encode(page.html()));
  const [changed, unchanged]: [number[], number[]] = [[], []];
  let last = page.html();
  for (let round = 0; round < 60; round++) {
    page.edit();
    const html = page.html();
    const body = encoder.encode(html);
    const begin = performance.now();
    await watcher.look(body);
    const between = performance.now();
    await watcher.look(body);
    unchanged.push(performance.now() - between);
    // The first rounds compile what later ones only run.
    if (round >= 20) changed.push(between - begin);
    last = html;
  }
  say(`changed ${median(changed).toFixed(1)} ms, unchanged ${median(unchanged).toFixed(2)} ms`);
  return [
    {
      what: `changed page of ${Math.round(last.length / 1000)} KB: parse, project, compare, diff, store (median)`,
      ours: `${median(changed).toFixed(1)} ms`,
      rival: '40 ms',
      holds: median(changed) <= 40,
    },
    {
      what: 'the same page unchanged, kept too (median)',
      ours: `${median(unchanged).toFixed(2)} ms`,
      rival: '0.5 ms',
      holds: median(unchanged) <= 0.5,
    },
  ];
}

async function storage(store: SqliteStore, file: string, say: (line: string) => void): Promise<Measurement[]> {
  const [page, watcher, encoder] = [new LivingPage(2), new Watcher(store), new TextEncoder()];
  await watcher.add();
  let whole = 0;
  for (let version = 0; version < 1000; version++) {
    page.edit();
    const { detection } = await watcher.look(encoder.encode(page.html()));
    if (detection.kind === 'first' || detection.kind === 'changed')
      whole += Buffer.byteLength(detection.projection.text);
  }
  const { versions, bytesKept } = store.care.check(false);
  const id = (await store.pages({ limit: 1 }))[0]!.page.id;
  const reads: number[] = [];
  for (let number = 1; number <= 1000; number += 7) {
    const begin = performance.now();
    if ((await store.versionText(id, number)) === undefined) throw new Error(`version ${number} does not read`);
    reads.push(performance.now() - begin);
  }
  store.care.vacuum();
  const share = (100 * bytesKept) / whole;
  say(
    `${versions} versions, ${(whole / 1e6).toFixed(0)} MB as ${(bytesKept / 1e6).toFixed(2)} MB, whole database ${(statSync(file).size / 1e6).toFixed(2)} MB`,
  );
  return [
    {
      what: '1,000 versions of a 200 KB page with small edits',
      ours: `${share.toFixed(2)} % of their sum`,
      rival: '2 %',
      holds: share < 2,
    },
    {
      what: 'reading any of those versions (slowest of 143)',
      ours: `${Math.max(...reads).toFixed(1)} ms`,
      rival: '20 ms',
      holds: Math.max(...reads) <= 20,
    },
  ];
}

export const bench: Bench = async (say) => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-'));
  const rows: Measurement[] = [];
  for (const [name, part] of [
    ['times.db', times],
    ['storage.db', storage],
  ] as const) {
    const file = join(folder, name);
    const opened = openSqlite(file);
    if (opened.kind === 'failed') throw new Error(opened.sentence);
    rows.push(...(part === times ? await times(opened.store, say) : await storage(opened.store, file, say)));
    await opened.store.close();
  }
  rmSync(folder, { recursive: true, force: true });
  return rows;
};
