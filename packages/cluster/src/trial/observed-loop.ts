/**
 * A coordinator's loop with an observer beside it, in virtual time: the fleet, the lookout and the loop are the real ones, what
 * goes between them goes at once, or not at all while the link is cut. Whoever is not near a site takes longer to look at it.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Policy } from '@revisit/core';
import type { Observation, Observer, Probe, Store } from 'revisit/ports';
import { judge } from '../../../daemon/src/eye.ts';
import type { LoopSettings } from '../../../daemon/src/loop-parts.ts';
import type { Loop } from '../../../daemon/src/loop.ts';
import { type World, startLoop } from '../../../daemon/src/simulation/world.ts';
import { handedBack, inOurTime } from '../dispatch/wire.ts';
import { Fleet } from '../observers/fleet.ts';
import { Lookout } from '../observers/lookout.ts';

const name = 'near';
const farMs = 800;
export const mandateMs = 600_000;

interface Looked {
  readonly url: string;
  readonly who: 'home' | 'near';
  readonly atMs: number;
}

interface Question {
  readonly shed?: string;
  readonly slow?: readonly string[];
  readonly factor?: number;
}

export class ObservedLoop implements Observer {
  readonly #world: World;
  readonly #isNear: (site: string) => boolean;
  readonly #end = new AbortController();
  #lookout: Lookout;
  #lives = 1;
  readonly fleet: Fleet;
  readonly looked: Looked[] = [];
  /** Who got which site, in order. */
  readonly moves: string[] = [];
  lentPerSecond = 0;
  loop!: Loop;

  private constructor(world: World, spacingMs: number, isNear: (site: string) => boolean) {
    const { clock } = world;
    this.#world = world;
    this.#isNear = isNear;
    this.#lookout = this.#begin();
    const request = async (_subject: string, words: string) => {
      const answer = await this.#reply(JSON.parse(words) as Question);
      return { json: () => answer };
    };
    this.fleet = new Fleet({
      clock,
      connection: { request } as unknown as NatsConnection,
      mandateMs,
      spacingMs,
      budgetPerSecond: () => this.loop.settings.looksPerSecond,
      behind: () => this.loop.behind(),
      lend: (perSecond) => {
        this.lentPerSecond = perSecond;
        this.loop.lend(perSecond);
      },
      giveBack: (requests) => this.loop.giveBack(requests),
      pageOf: (id) => this.loop.collection.byId(id),
      everyPage: () => this.loop.collection,
      pageCount: () => this.loop.collection.size,
      probeSoon: (id) => void this.loop.probeSoon(id),
      remember: (site, observer) => Promise.resolve(void this.moves.push(`${site} ${observer ?? 'home'}`)),
      outlive: () => {},
      log: () => {},
    });
  }

  #begin(): Lookout {
    const near: Observer = { observe: (probe) => this.#look('near', probe), close: () => Promise.resolve() };
    return new Lookout(near, judge, this.#world.clock);
  }

  /** Another is there in place of the observer, which has been killed. */
  restart(): void {
    this.#lookout = this.#begin();
    this.#lives++;
  }

  static async start(world: World, policy: Policy, settings: LoopSettings, isNear: (site: string) => boolean) {
    const observed = new ObservedLoop(world, settings.spacingMs, isNear);
    observed.#hearKept(world.store);
    observed.loop = await startLoop(world, policy, settings, undefined, { observer: observed });
    return observed;
  }

  /** As the shared store says which probes have ended. */
  #hearKept(store: Store): void {
    const [commit, finished] = [store.commit.bind(store), store.finished.bind(store)];
    store.commit = async (looks) => {
      const kept = await commit(looks);
      this.fleet.kept(looks.map(({ probeId }) => probeId));
      return kept;
    };
    store.finished = async (ids) => {
      const kept = await finished(ids);
      this.fleet.kept(ids);
      return kept;
    };
  }

  run(): void {
    const { clock } = this.#world;
    const every = async (ms: number, work: () => unknown): Promise<void> => {
      while (!this.#end.signal.aborted) {
        await work();
        await clock.sleep(ms, this.#end.signal);
      }
    };
    void every(2_000, () => {
      const life = `00000000.${this.#lives}`;
      const word = { atMs: clock.nowMs(), life, ...this.#lookout.counts(), stirred: this.#lookout.stirred(500) };
      this.fleet.heard(name, word);
    });
    void every(5_000, () => this.fleet.decide());
    void every(500, () => this.fleet.recall());
    void this.#patrol();
    void this.loop.run(new AbortController().signal);
  }

  async #patrol(): Promise<void> {
    const { clock } = this.#world;
    while (!this.#end.signal.aborted) await clock.sleep(Math.min(500, await this.#lookout.patrol()), this.#end.signal);
  }

  end(): void {
    this.loop.die();
    this.#end.abort('ended');
  }

  async #reply({ shed, slow, factor }: Question): Promise<unknown> {
    if (slow) {
      this.#lookout.slow(slow, factor!);
      return { slowed: true };
    }
    const agoMs = shed === undefined ? 'untold' : await this.#lookout.shed(shed);
    return agoMs === 'untold' ? {} : { agoMs };
  }

  async #look(who: Looked['who'], probe: Probe): Promise<Observation> {
    const { clock, web } = this.#world;
    const startedAtMs = clock.nowMs();
    this.looked.push({ url: probe.url, who, atMs: startedAtMs });
    if (who === 'home' || !this.#isNear(probe.site)) await clock.sleep(farMs);
    const seen = await web.observe(probe);
    return { ...seen, startedAtMs, latencyMs: seen.endedAtMs - startedAtMs };
  }

  async observe(probe: Probe): Promise<Observation> {
    const { clock } = this.#world;
    const sinceMs = clock.nowMs();
    const route = await this.fleet.route(probe);
    if (!route) {
      const seen = await this.#look('home', probe);
      this.fleet.fromHome(seen);
      return seen;
    }
    const report = await this.#lookout.answer(route.errand);
    if (!report) this.fleet.unknown(probe);
    const said = report && this.fleet.read(name, report, probe);
    this.fleet.ended(probe.site);
    const nowMs = clock.nowMs();
    return said ? inOurTime(said, probe, sinceMs, nowMs) : handedBack(probe, nowMs, 'The answer could not be read.');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
