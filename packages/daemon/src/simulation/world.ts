/** A daemon's loop over a simulated web in virtual time: how policies, crashes and faults are tried. */
import { random, type Policy, type Random } from '@revisit/core';
import { detector } from '../daemon.ts';
import { Loop } from '../loop.ts';
import type { LoopParts, LoopSettings } from '../loop-parts.ts';
import type { Store } from '../store/port.ts';
import type { Telling } from '../telling.ts';
import { usualSettings } from '../values/page.ts';
import { SimulatedWeb, type SimulatedPage, type SiteLaw } from './simulated-web.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface World {
  readonly clock: VirtualClock;
  readonly web: SimulatedWeb;
  readonly store: Store;
  readonly random: Random;
}

export interface WorldOptions {
  readonly seed: number;
  readonly startMs: number;
  readonly store: Store;
  readonly pages: readonly SimulatedPage[];
  readonly siteLaw?: (site: string) => SiteLaw;
}

/** The web and the watched pages, before any daemon runs. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const luck = random(options.seed);
  const clock = new VirtualClock(options.startMs);
  const web = new SimulatedWeb(clock, luck, options.pages, options.siteLaw);
  await options.store.addPages(
    options.pages.map(({ url, site, settings }) => ({
      url,
      site,
      ...usualSettings,
      addedAtMs: options.startMs,
      ...settings,
    })),
  );
  return { clock, web, store: timeless(options.store, clock), random: luck };
}

/** The store, at whose calls time stands still: one that is a server away works in real time. */
function timeless(store: Store, clock: VirtualClock): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const answer: unknown = value.apply(target, given);
        return answer instanceof Promise ? clock.hold(answer) : answer;
      };
    },
  });
}

/** A fresh process over the world's store: what a restart finds is what was committed. */
export async function startLoop(
  world: World,
  policy: Policy,
  settings: LoopSettings,
  telling?: Telling,
  parts: Partial<LoopParts> = {},
): Promise<Loop> {
  const { clock, web, store, random: luck } = world;
  const loop = new Loop(
    {
      clock,
      random: luck,
      store,
      observer: web,
      policy,
      detect: detector(store),
      log: () => {},
      ...(telling ? { planned: (look) => telling.planned(look) } : {}),
      ...parts,
    },
    settings,
  );
  if (telling) loop.onKept(() => telling.courier.nudge());
  await loop.load();
  return loop;
}
