import { expect, onTestFinished, test } from 'vitest';
import { settle } from '../config/config.ts';
import { live } from '../lives.ts';
import { EvenClock } from '../dispatch/even-clock.ts';
import { startChangingWeb } from './changing-web.ts';
import { eventually, freshFolder } from './command.ts';

interface Listed {
  readonly pages: readonly { readonly lastProbe: string | null }[];
}

test.each([-30 * 86_400_000, 30 * 86_400_000])(
  'a daemon whose clock is set by %i ms looks on, at the same address, by the new time',
  async (setByMs) => {
    const web = await startChangingWeb();
    onTestFinished(() => web.close());
    web.set('/robots.txt', '');
    web.set('/', '<p>First</p>');
    const config = settle(
      { pages: [{ url: `${web.url}/` }] },
      {
        data: freshFolder(),
        port: '0',
        budget: '20/second',
        spacing: '10ms',
        allowNetwork: ['127.0.0.0/8'],
        logLevel: 'silent',
      },
    );
    if (config.kind === 'wrong') throw new Error(config.sentence);
    let offMs = 0;
    const machine = {
      wallMs: () => Date.now() + offMs,
      steadyMs: () => performance.now(),
      upMs: () => performance.now(),
    };
    const stop = new AbortController();
    const living = await live(config.value, stop.signal, {}, () => new EvenClock(machine));
    if (living.kind === 'wrong') throw new Error(living.sentence);
    // While it begins anew nobody answers.
    const lastLook = (): Promise<number> =>
      fetch(`${living.url}/api/pages`)
        .then((answer) => answer.json() as Promise<Listed>)
        .then(({ pages }) => Date.parse(pages[0]?.lastProbe ?? ''))
        .catch(() => Number.NaN);
    await eventually(async () => (await lastLook()) > 0);
    offMs = setByMs;
    const setAtMs = Date.now() + offMs;
    const firstMs = await eventually(async () => {
      const atMs = await lastLook();
      return Math.abs(atMs - setAtMs) < 600_000 && atMs;
    });
    // And one more, which the new process plans by itself.
    await eventually(async () => (await lastLook()) > firstMs);
    stop.abort();
    expect(await living.ended).toEqual({ kind: 'ended' });
  },
  480_000,
);
