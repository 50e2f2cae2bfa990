import { expect, test } from 'vitest';
import { nowAndThen } from './now-and-then.ts';

test('what is told ten thousand times a second is said ten times', () => {
  let nowMs = 0;
  const said: number[] = [];
  const say = nowAndThen(
    100,
    () => nowMs,
    (share: number) => said.push(share),
  );
  for (let i = 0; i < 10_000; i++) {
    nowMs = i / 10;
    say(i);
  }
  expect(said).toEqual(Array.from({ length: 10 }, (_, i) => 1000 * i));
});
