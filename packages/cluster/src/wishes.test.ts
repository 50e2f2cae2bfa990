import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LoopbackWeb, eventually, loopbackWeb } from '../../daemon/src/trial/command.ts';
import { quietNow } from '../../daemon/src/trial/quiet-now.ts';
import { locate } from '../../../house/provision.ts';
import { type Pair, call, startPair } from './trial/pair.ts';

/** So many that each coordinator has some. */
const hosts = 12;
const everyHost = Array.from({ length: hosts }, (_, i) => i);

describe.skipIf(locate('nats-server') === undefined)('a look that is wished for while pages change hands', () => {
  let pair: Pair;
  let web: LoopbackWeb;
  beforeAll(async () => {
    [pair, web] = await Promise.all([startPair('2s'), loopbackWeb('0.0.0.0')]);
  });
  afterAll(() => Promise.all([pair.end(), web.close()]));

  test('is made by whoever looks after the page in the end, also when its coordinator is killed or gives it up', async () => {
    const write = (edition: number): void => {
      for (const host of everyHost) web.pages.set(`/${host}`, `<p>edition ${edition} of ${host}</p>`);
    };
    write(1);
    // The plan leaves them alone for hours after their first look.
    const inputs = everyHost.map((host) => ({
      url: `${web.url.replace('127.0.0.1', `127.0.0.${host + 1}`)}/${host}`,
      spacing: '5h',
    }));
    const [, two] = pair.urls;
    const { pages } = await call<{ pages: { id: string }[] }>('POST', `${two}/api/pages`, inputs);
    const seen = (at: string, version: number): Promise<unknown> =>
      eventually(async () => {
        const { pages: now } = await call<{ pages: { version: number }[] }>('GET', `${at}/api/pages`);
        return now.every((page) => page.version === version);
      });
    const quiet = (at: string, hours: readonly string[]): Promise<unknown> =>
      call('PATCH', `${at}/api/settings`, { quiet: hours });
    const isQuiet = async (at: string): Promise<boolean> =>
      (await call<{ quiet: string[] }>('GET', `${at}/api/settings`)).quiet.length > 0;
    const part = async (at: string): Promise<number> =>
      Number(/^revisit_budget_per_hour (.*)$/m.exec(await call<string>('GET', `${at}/metrics`))![1]);
    const looksOf = async (at: string): Promise<number> =>
      (await call<{ pages: { looks: number }[] }>('GET', `${at}/api/pages`)).pages.reduce((sum, p) => sum + p.looks, 0);

    await seen(two, 1);
    for (const at of pair.urls) await eventually(async () => (await part(at)) > 9_000);
    await quiet(two, quietNow());
    for (const at of pair.urls) await eventually(() => isQuiet(at));
    write(2);
    // Half of them one by one, the others in one call; all of them stand in line, at one of the two.
    for (const { id } of pages.slice(0, hosts / 2)) await call('POST', `${two}/api/pages/${id}/probe`, {});
    const { pages: asked } = await call<{ pages: number }>('POST', `${two}/api/pages/bulk`, {
      do: 'probe',
      ids: pages.slice(hosts / 2).map(({ id }) => id),
    });
    expect(asked).toBe(hosts / 2);
    await pair.both[0].end('SIGKILL');
    await quiet(two, []);
    await seen(two, 2);
    expect(await looksOf(two)).toBe(2 * hosts);

    await quiet(two, quietNow());
    await eventually(() => isQuiet(two));
    write(3);
    for (const { id } of pages) await call('POST', `${two}/api/pages/${id}/probe`, {});
    // One that comes gets its part of the shards, and what stands in line there.
    const third = await pair.another();
    for (const at of [two, third.url]) await eventually(async () => (await part(at)) > 9_000);
    await quiet(two, []);
    await seen(two, 3);
    expect(await looksOf(two)).toBe(3 * hosts);
  });
});
