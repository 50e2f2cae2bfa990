import { beforeEach, expect, test } from 'vitest';
import { EvenClock } from './even-clock.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);
let machine: { wall: number; steady: number; up: number };
let clock: EvenClock;

beforeEach(() => {
  machine = { wall: startMs, steady: 100, up: 5_000_000 };
  clock = new EvenClock({ wallMs: () => machine.wall, steadyMs: () => machine.steady, upMs: () => machine.up });
});

/** Time passes, a second at a time, as a daemon looks at its clock. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1000) {
    machine = { wall: machine.wall + 1000, steady: machine.steady + 1000, up: machine.up + 1000 };
    clock.nowMs();
  }
}

test.each([5 * hourMs, -5 * hourMs, -500 * hourMs, 60_000, -60_000])(
  'a clock set by %i ms goes on as if it had not been, and says by how much it was',
  (byMs) => {
    pass(60_000);
    machine.wall += byMs;
    expect(clock.nowMs()).toBe(startMs + 60_000);
    pass(3 * hourMs);
    expect(clock.nowMs()).toBe(startMs + 3 * hourMs + 60_000);
    expect(clock.setByMs).toBe(byMs);
  },
);

test('a machine that slept is followed, also where its clock was set meanwhile', () => {
  pass(60_000);
  machine = { ...machine, wall: machine.wall + 9 * hourMs, up: machine.up + 9 * hourMs };
  expect(clock.nowMs()).toBe(startMs + 9 * hourMs + 60_000);
  expect(clock.setByMs).toBe(0);
  pass(60_000);
  machine = { ...machine, wall: machine.wall + 2 * hourMs, up: machine.up + 5 * hourMs };
  expect(clock.nowMs()).toBe(startMs + 14 * hourMs + 120_000);
  expect(clock.setByMs).toBe(-3 * hourMs);
});

test('a clock that is put right by seconds is followed forward and waited for back', () => {
  machine.wall += 4_000;
  expect(clock.nowMs()).toBe(startMs + 4_000);
  machine.wall -= 6_000;
  expect(clock.nowMs()).toBe(startMs + 4_000);
  pass(5_000);
  expect(clock.nowMs()).toBe(startMs + 4_000);
  pass(5_000);
  expect(clock.nowMs()).toBe(machine.wall);
  expect(clock.setByMs).toBe(0);
});
