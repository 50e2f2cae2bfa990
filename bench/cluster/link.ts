/** Bytes between home and whoever looks from afar: a robot, and an observer in its place. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from '../../house/bench.ts';
import { type NatsServer, startNats } from '../../packages/cluster/src/trial/nats-server.ts';
import type { PostgresServer } from '../../packages/cluster/src/trial/postgres-server.ts';
import { type TroubledLink, troubledLink } from '../../packages/cluster/src/trial/troubled-link.ts';
import { Cluster, type Web, pause, until } from './processes.ts';

/** Rarely: a page is looked at some twenty times between two changes. */
const distantPages = 20;
const distantChanges = 1;
const distantChangeEveryMs = 20_000;
/** What comes once is over then: robots.txt, measuring the links, sharing what is lent. */
const looksBefore = 10;

type Who = 'robot' | 'observer';

/** A cluster whose robot or observer stands beyond a link that counts what goes over it, both ways. */
class Distant {
  readonly #who: Who;
  readonly #cluster: Cluster;
  readonly #link: TroubledLink;
  readonly #nats: NatsServer;

  private constructor(who: Who, cluster: Cluster, link: TroubledLink, nats: NatsServer) {
    this.#who = who;
    this.#cluster = cluster;
    this.#link = link;
    this.#nats = nats;
  }

  static async start(who: Who, store: string, web: Web): Promise<Distant> {
    const nats = await startNats();
    const link = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
    const there = `nats://127.0.0.1:${link.port}`;
    const settings = `budget: ${distantPages}/second\nspacing: 100ms\n`;
    const cluster = await Cluster.start(settings, '--store', store, '--nats', nats.url);
    const net = who === 'robot' ? 11 : 12;
    await cluster.add(Array.from({ length: distantPages }, (_, i) => `http://127.0.${net}.${i + 1}:${web.port}/page`));
    const words = ['--spacing', '100ms', '--contact'];
    cluster.run('robot', '--nats', who === 'robot' ? there : nats.url, ...words, 'far');
    const folder = mkdtempSync(join(tmpdir(), 'revisit-observer-'));
    if (who === 'observer')
      cluster.run('observer', '--nats', there, '--name', 'near', '--data', folder, ...words, 'near');
    return new Distant(who, cluster, link, nats);
  }

  /** All pages are looked at from where they shall be. */
  async ready(): Promise<boolean> {
    const { kept, observers } = await this.#cluster.robots();
    if (this.#who === 'robot') return kept >= looksBefore * distantPages;
    const [near] = observers;
    return near?.sites.length === distantPages && near.looks >= looksBefore * distantPages;
  }

  async count(): Promise<{ readonly looks: number; readonly bytes: number }> {
    const { kept, observers } = await this.#cluster.robots();
    return { looks: this.#who === 'robot' ? kept : observers[0]!.looks, bytes: this.#link.bytes() };
  }

  async end(): Promise<void> {
    await this.#cluster.end();
    await this.#link.end();
    await this.#nats.end();
  }
}

interface Traffic {
  readonly looks: number;
  readonly bytesPerLook: number;
}

/** The same pages, the same changes, the same time: by a robot and by an observer. */
async function overTheLink(stores: Readonly<Record<Who, string>>, web: Web): Promise<Record<Who, Traffic>> {
  const distant = await Promise.all([
    Distant.start('robot', stores.robot, web),
    Distant.start('observer', stores.observer, web),
  ]);
  try {
    await until('the observer has its sites', async () =>
      (await Promise.all(distant.map((one) => one.ready()))).every(Boolean),
    );
    const before = await Promise.all(distant.map((one) => one.count()));
    for (let i = 0; i < distantChanges; i++) {
      await pause(distantChangeEveryMs / 2);
      web.change();
      await pause(distantChangeEveryMs / 2);
    }
    const after = await Promise.all(distant.map((one) => one.count()));
    const [robot, observer] = after.map(({ looks, bytes }, i) => ({
      looks: looks - before[i]!.looks,
      bytesPerLook: (bytes - before[i]!.bytes) / (looks - before[i]!.looks),
    }));
    return { robot: robot!, observer: observer! };
  } finally {
    await Promise.all(distant.map((one) => one.end()));
  }
}

export async function linkRows(postgres: PostgresServer, web: Web): Promise<Measurement[]> {
  const stores = { robot: await postgres.database('bytes1'), observer: await postgres.database('bytes2') };
  const { robot, observer } = await overTheLink(stores, web);
  const fewer = robot.bytesPerLook / observer.bytesPerLook;
  return [
    {
      what: `bytes over the link for a look, side by side, ${distantPages} pages of 20 KB of which a line changes every ${distantChangeEveryMs / 1000} s, about one look a page and second, counted from the ${looksBefore}th look of each page on`,
      ours: `${observer.bytesPerLook.toFixed(0)} B by an observer (${observer.looks} looks)`,
      rival: `${robot.bytesPerLook.toFixed(0)} B by a robot (${robot.looks} looks)`,
      ratio: `${fewer.toFixed(1)}× fewer`,
      holds: fewer >= 20,
    },
  ];
}
