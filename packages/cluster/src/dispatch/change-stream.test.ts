import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import type { Change } from 'revisit/ports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { type LoopbackWeb, eventually, loopbackWeb } from '../../../daemon/src/trial/command.ts';
import { type Pair, startPair } from '../trial/pair.ts';
import { json } from '../trial/verdict.ts';
import { streams } from './streams.ts';

const pages = 12;
/** As every fault is to be mended. */
const mendedMsMax = 10_000;

describe.skipIf(locate('nats-server') === undefined)('the stream of changes', () => {
  let pair: Pair;
  let web: LoopbackWeb;
  let coordinator: NatsConnection;

  const edit = (words: string): void => {
    for (let i = 0; i < pages; i++) web.pages.set(`/${i}`, `<p>${words} ${i}</p>`);
  };

  beforeAll(async () => {
    [pair, web] = await Promise.all([startPair('2s'), loopbackWeb('0.0.0.0')]);
    coordinator = await connect({ servers: pair.nats.url });
    const urls = Array.from({ length: pages }, (_, i) => `${web.url.replace('127.0.0.1', `127.0.0.${i + 1}`)}/${i}`);
    edit('one');
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(urls.map((url) => ({ url })));
    await fetch(`${pair.urls[0]}/api/pages`, { method: 'POST', headers, body });
    await eventually(async () => {
      const listed = await json<{ pages: { version: number }[] }>(`${pair.urls[0]}/api/pages?limit=100`);
      return listed.pages.filter(({ version }) => version > 0).length === pages;
    });
    edit('two');
  });
  afterAll(async () => {
    await coordinator.close();
    await Promise.all([pair.end(), web.close()]);
  });

  /** Of the log, and of the stream, in their order. */
  const logged = async (): Promise<readonly string[]> =>
    (await json<{ changes: Pick<Change, 'id'>[] }>(`${pair.urls[0]}/api/changes?limit=1000`)).changes.map(
      ({ id }) => id,
    );
  async function streamed(): Promise<readonly string[]> {
    const manager = await jetstreamManager(coordinator);
    const { messages } = (await manager.streams.info(streams.changes)).state;
    if (messages === 0) return [];
    const consumer = await jetstream(coordinator).consumers.get(streams.changes);
    const ids: string[] = [];
    for await (const message of await consumer.fetch({ max_messages: messages, expires: 2_000 }))
      ids.push(message.json<Change>().id);
    return ids;
  }

  async function whole(count: number): Promise<void> {
    await eventually(async () => {
      const [told, kept] = [await streamed().catch(() => []), await logged()];
      return kept.length >= count && told.join() === kept.join();
    });
    const told = await streamed();
    expect(new Set(told).size).toBe(told.length);
  }

  test('has every change again, once, soon after it was deleted', async () => {
    await whole(pages);
    const before = (await logged()).length;
    await (await jetstreamManager(coordinator)).streams.delete(streams.changes);
    const harmedMs = performance.now();
    edit('three');
    await whole(before);
    expect(performance.now() - harmedMs).toBeLessThan(mendedMsMax);
    await whole(before + pages);
  });

  test('that was purged has what is found from then on, in its order', async () => {
    const before = (await logged()).length;
    await (await jetstreamManager(coordinator)).streams.purge(streams.changes);
    edit('four');
    await eventually(async () => (await logged()).length >= before + pages);
    await eventually(async () => (await streamed()).length >= pages);
    const kept = await logged();
    expect(await streamed()).toEqual(kept.slice(-pages));
  });
});
