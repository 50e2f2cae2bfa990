/**
 * Ways into the inside of a network, each tried on real sockets: written into a URL in every spelling, behind a name, behind a
 * redirect, behind a name that answers one thing first and another next, and for everything that goes out: pages, robots.txt,
 * forms for hubs. Whatever listens inside must never hear of it.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Outcome } from '../values/observation.ts';
import { guardedConnector } from './connect.ts';
import type { ObserverOptions, WebObserver } from './observe.ts';
import type { ResolvedAddress } from './resolve.ts';
import { type Loopback, observerOn, probeOf, serve } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
let inside: Loopback;
let outside: Loopback;
/** Where the outside sends its visitors. */
let leadsTo = '/';

beforeEach(async () => {
  inside = await serve((_request, response) => response.end('inside'));
  outside = await serve(
    (request, response) => {
      if (request.url === '/here') response.end('outside');
      // As bytes, since Node writes headers in Latin-1 and servers in UTF-8.
      else response.writeHead(302, { location: Buffer.from(leadsTo).toString('latin1') }).end();
    },
    undefined,
    '127.0.0.2',
  );
  open.push(inside, outside);
});

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

/** Only the outside is allowed; names lead where the test says. */
function observer(resolve?: ObserverOptions['resolve']): WebObserver {
  const made = observerOn({ allowNetworks: ['127.0.0.2/32'], ...(resolve ? { resolve } : {}) });
  open.unshift(made);
  return made;
}

const at = (address: string): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 });
const codeOf = (outcome: Outcome): string => ('fault' in outcome ? outcome.fault.code : outcome.kind);

const spellings = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0.0.0.0',
  '0',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '169.254.169.254',
  '[fd00:ec2::254]',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
];

test.each(spellings)('%s in a URL, and behind a redirect', async (host) => {
  const using = observer();
  const url = `http://${host}:${inside.port}/`;
  const { outcome, requests } = await using.observe(probeOf(url));
  expect(outcome).toMatchObject({ kind: 'refused', fault: { code: 'address-refused' } });
  expect(requests).toBe(0);
  leadsTo = url;
  const led = await using.observe(probeOf(`${outside.origin}/there`));
  expect(codeOf(led.outcome)).toBe('address-refused');
  expect(await using.submit!(url, { 'hub.mode': 'subscribe' })).toBeUndefined();
  expect(inside.asked).toEqual([]);
});

test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', '10.0.0.1', 'fd00::1'])(
  'a name that leads to %s, whatever it is called',
  async (address) => {
    const using = observer(() => Promise.resolve([at(address)]));
    for (const name of ['metadata.google.internal', 'localhost', 'a.localhost', 'inside.example']) {
      const { outcome } = await using.observe(probeOf(`http://${name}:${inside.port}/`));
      expect(codeOf(outcome)).toBe('address-refused');
    }
    expect(inside.asked).toEqual([]);
  },
);

test.each([
  ['0.0.0.0', 'an unspecified'],
  ['10.1.2.3', 'a private'],
  ['fd00::1', 'a unique local'],
  ['169.254.1.1', 'a link-local'],
  ['fe80::1', 'a link-local'],
  ['100.64.0.1', 'a carrier-grade NAT'],
  ['fec0::1', 'a site-local'],
  ['2001::1', 'a Teredo'],
])('what is refused at %s is said to be %s address', async (address, words) => {
  const { outcome } = await observer(() => Promise.resolve([at(address)])).observe(probeOf('http://inside.example/'));
  expect('fault' in outcome ? outcome.fault.sentence : '').toContain(`, ${words} address,`);
});

test('of a name with several addresses only those that may be visited are', async () => {
  const using = observer(() => Promise.resolve([at('127.0.0.1'), at('127.0.0.2'), at('::1')]));
  const { outcome } = await using.observe(probeOf(`http://both.example:${outside.port}/here`));
  expect(outcome).toMatchObject({ kind: 'fetched' });
  const narrow = observer(() => Promise.resolve([at('127.0.0.1'), at('::1')]));
  const { outcome: refused } = await narrow.observe(probeOf(`http://both.example:${inside.port}/`));
  expect(codeOf(refused)).toBe('address-refused');
  expect(inside.asked).toEqual([]);
});

test('a name that answers the outside first and the inside next: for pages, redirects and forms', async () => {
  // Every look at the clock is so much later: what was found before is used while it is looked up anew, or no longer at all.
  const steps = [61_000, 3_601_000];
  for (const [lead, stepMs] of [false, true].flatMap((lead) => steps.map((stepMs) => [lead, stepMs] as const))) {
    let asked = 0;
    // The outside for whoever judges first, the inside for whoever connects next.
    const resolve = (): Promise<ResolvedAddress[]> =>
      Promise.resolve([at(asked++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1')]);
    let nowMs = 0;
    const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
    const clock = { nowMs: () => (nowMs += stepMs), sleep };
    const using = observerOn({ allowNetworks: ['127.0.0.2/32'], resolve, clock });
    open.unshift(using);
    leadsTo = `http://rebind.example:${inside.port}/`;
    const url = lead ? `${outside.origin}/there` : leadsTo;
    for (let attempt = 0; attempt < 6; attempt++) {
      const { outcome } = await using.observe(probeOf(url));
      expect(outcome.kind).not.toBe('fetched');
      expect(codeOf(outcome)).not.toBe('dns-failed');
      await using.submit!(leadsTo, { 'hub.mode': 'subscribe' });
    }
    expect(asked).toBeGreaterThan(4);
  }
  expect(inside.asked).toEqual([]);
});

test('the address that was connected to is judged once more, whatever the lookup said', async () => {
  let judged = 0;
  const connect = guardedConnector({
    // Allowed when it was looked up, and not when the connection stands.
    judge: () => (judged++ === 0 ? { kind: 'allowed', range: 'public' } : { kind: 'refused', range: 'loopback' }),
    resolve: () => Promise.resolve([at('127.0.0.1')]),
    connectMs: 5_000,
  });
  const target = { hostname: 'name.example', host: `name.example:${inside.port}`, protocol: 'http:' };
  const [error, socket] = await new Promise<unknown[]>((resolve) =>
    connect({ ...target, port: String(inside.port) }, (...given) => resolve(given)),
  );
  expect(judged).toBe(2);
  expect(error).toMatchObject({ code: 'REVISIT_ADDRESS_REFUSED' });
  expect(socket).toBeNull();
});

test('what is given for a page goes to its origin alone: headers, cookies, and what a URL carries', async () => {
  const other = await serve((_request, response) => response.end('other'), undefined, '127.0.0.3');
  open.push(other);
  const using = observerOn({ allowNetworks: ['127.0.0.0/8'] });
  open.unshift(using);
  leadsTo = `http://me:secret@127.0.0.3:${other.port}/`;
  const headers = { Authorization: 'Bearer secret', Cookie: 'session=secret', 'X-Key': 'secret' };
  const seen = await using.observe(probeOf(`${outside.origin}/there`, { headers }));
  expect(seen.outcome).toMatchObject({ kind: 'fetched' });
  expect(outside.asked.at(-1)!.headers).toMatchObject({ authorization: 'Bearer secret', cookie: 'session=secret' });
  for (const { headers: sent } of other.asked) expect(JSON.stringify(sent)).not.toContain('secret');
  expect(JSON.stringify({ ...seen, probe: undefined })).not.toContain('secret');
  // robots.txt is asked for by the robot, not by the page's visitor.
  expect(outside.asked[0]).toMatchObject({ path: '/robots.txt' });
  expect(JSON.stringify(outside.asked[0]!.headers)).not.toContain('secret');
});

test('a redirect to an address beyond ASCII is followed as browsers do', async () => {
  leadsTo = '/straße?größe=1';
  await observer().observe(probeOf(`${outside.origin}/there`));
  expect(outside.asked.map(({ path }) => path)).toContain('/stra%C3%9Fe?gr%C3%B6%C3%9Fe=1');
});

test.each(['file:///etc/passwd', 'ftp://127.0.0.2/x', 'data:text/html,x', 'javascript:1', 'gopher://127.0.0.1/'])(
  'a redirect to %s is not followed',
  async (target) => {
    leadsTo = target;
    const { outcome } = await observer().observe(probeOf(`${outside.origin}/there`));
    expect(codeOf(outcome)).toBe('redirect-refused');
  },
);
