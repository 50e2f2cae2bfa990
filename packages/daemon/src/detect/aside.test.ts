import { expect, test } from 'vitest';
import { Aside } from './aside.ts';
import { detect, type Detected, type DetectInput } from './detect.ts';

const all = (looks: readonly (Detected | Promise<Detected>)[]): Promise<Detected[]> =>
  Promise.all(looks.map((look) => Promise.resolve(look)));

const body = (page: number, version: number): Uint8Array =>
  Buffer.from(`<title>Page ${page}</title><p>a first paragraph</p><p>version ${version} of page ${page}</p>`);

const look = (page: number, version: number, before?: { state: string; text: string }): DetectInput => ({
  select: { kind: 'text' },
  options: {},
  body: body(page, version),
  mediaType: 'text/html',
  url: `https://a.example/${page}`,
  atMs: 1e12 + version * 1e9,
  ...(before
    ? { previous: { state: before.state, lookedAtMs: 1e12, last: () => before.text, told: () => before.text } }
    : {}),
});

const textOf = ({ detection }: Detected): string => ('projection' in detection ? detection.projection.text : '');

test('many changed pages at once are read beside the loop, each as it would have been in place', async () => {
  const aside = new Aside();
  const firsts = await all(Array.from({ length: 20 }, (_, page) => aside.detect(look(page, 1))));
  const befores = firsts.map((first) => ({ state: first.state, text: textOf(first) }));
  const changed = await all(befores.map((before, page) => aside.detect(look(page, 2, before))));
  expect(changed).toEqual(await Promise.all(befores.map((before, page) => detect(look(page, 2, before)))));
  expect(changed.map(({ detection }) => detection.kind)).toEqual(Array.from({ length: 20 }, () => 'changed'));
  await aside.close();
});

test('a body that is known by its fingerprint is answered at once', async () => {
  const aside = new Aside();
  const first = await aside.detect(look(1, 1));
  const same = aside.detect(look(1, 1, { state: first.state, text: textOf(first) }));
  expect(same).toEqual({ detection: { kind: 'unchanged' }, state: first.state });
});

test('a thread that dies loses nothing', async () => {
  const aside = new Aside();
  const looks = Array.from({ length: 20 }, (_, page) => aside.detect(look(page, 1)));
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  await aside.close();
  const kinds = (await all(looks)).map(({ detection }) => detection.kind);
  expect(kinds).toEqual(Array.from({ length: 20 }, () => 'first'));
});
