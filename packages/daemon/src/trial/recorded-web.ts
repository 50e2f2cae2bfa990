/** A web of our own, in virtual time, where the sockets would be: it records what it is asked and when. */
import { random } from '@revisit/core';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Observation } from '../values/observation.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import type { ObserverOptions } from '../observe/observe.ts';
import { createObserver } from '../observe/observe.ts';
import { probeOf } from '../observe/test/loopback.ts';

export const startMs = Date.UTC(2026, 0, 5);

interface Said {
  readonly status?: number;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
  readonly latencyMs?: number;
  readonly fails?: string;
}

interface Asked {
  readonly atMs: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** robots.txt is not there unless the web says so. */
export function world(say: (ask: Ask, atMs: number) => Said | undefined, options: Partial<ObserverOptions> = {}) {
  const clock = new VirtualClock(startMs);
  const asked: Asked[] = [];
  let underWay = 0;
  let underWayMost = 0;
  const fetchPage = async (ask: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    asked.push({ atMs: askedAtMs, url: ask.url.href, headers: ask.headers });
    underWayMost = Math.max(underWayMost, ++underWay);
    const said = say(ask, askedAtMs) ?? (ask.url.pathname === '/robots.txt' ? { status: 404 } : {});
    await clock.sleep(said.latencyMs ?? 50);
    underWay--;
    if (said.fails) return { kind: 'failed', fault: { code: said.fails, sentence: said.fails }, bytesReceived: 0 };
    const { status = 200, headers = {}, body = 'page' } = said;
    return {
      kind: 'answered',
      url: ask.url,
      status,
      headers,
      body: Buffer.from(body),
      bytesReceived: body.length,
      askedAtMs,
      answeredAtMs: clock.nowMs(),
    };
  };
  const luck = random(1);
  const observer = createObserver({
    clock,
    random: luck,
    userAgent: 'Revisit/1 (test)',
    allowNetworks: [],
    spacingMs: 2_000,
    fetchPage,
    ...options,
  });
  const run = async (work: Promise<unknown>) => {
    await clock.runUntil(Infinity, work);
    return work;
  };
  const see = async (url: string, more?: Parameters<typeof probeOf>[1]): Promise<Observation> => {
    const looking = observer.observe(probeOf(url, more));
    await run(looking);
    return looking;
  };
  return { clock, asked, observer, run, see, most: () => underWayMost };
}

export const gaps = (asked: readonly Asked[]) => asked.slice(1).map(({ atMs }, index) => atMs - asked[index]!.atMs);
export const pagesOf = (asked: readonly Asked[]) => asked.filter(({ url }) => !url.endsWith('/robots.txt'));
