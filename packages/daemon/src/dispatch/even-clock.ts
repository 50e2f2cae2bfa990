/**
 * The machine's time, but for what somebody sets: then it goes on as if nobody had, and says so. Whoever waits for a moment waits
 * neither longer nor shorter for it, until all of them begin anew by another such clock. A machine that has slept has lost its
 * time, and is followed.
 */
import { uptime } from 'node:os';
import { type Clock, systemClock } from '../values/clock.ts';

/** What a machine says of time. */
export interface MachineTime {
  /** Since the epoch, by the clock that people set. */
  readonly wallMs: () => number;
  /** Goes on evenly, and stands still while the machine sleeps. */
  readonly steadyMs: () => number;
  /** Since the machine was started, awake or asleep, to the second. */
  readonly upMs: () => number;
}

const thisMachine: MachineTime = {
  wallMs: () => Date.now(),
  steadyMs: () => performance.now(),
  upMs: () => 1000 * uptime(),
};

/** A clock that is put right by less is followed, or waited for: spacing and waits are off by no more than this. */
export const putRightMs = 10_000;
/** How often it is noted how long the machine has been up: asking takes microseconds. */
const noteUpMs = 5_000;

export class EvenClock implements Clock {
  readonly #machine: MachineTime;
  #wallMs: number;
  #steadyMs: number;
  /** When the machine had been up for how long. */
  #up: { readonly steadyMs: number; readonly upMs: number };
  #setByMs = 0;
  #nowMs = -Infinity;

  constructor(machine = thisMachine) {
    this.#machine = machine;
    this.#wallMs = machine.wallMs();
    this.#steadyMs = machine.steadyMs();
    this.#up = { steadyMs: this.#steadyMs, upMs: machine.upMs() };
  }

  nowMs(): number {
    const [wallMs, steadyMs] = [this.#machine.wallMs(), this.#machine.steadyMs()];
    const leapMs = wallMs - this.#wallMs - (steadyMs - this.#steadyMs);
    if (Math.abs(leapMs) > putRightMs) this.#leapt(leapMs, steadyMs);
    else if (steadyMs - this.#up.steadyMs > noteUpMs) this.#up = { steadyMs, upMs: this.#machine.upMs() };
    this.#wallMs = wallMs;
    this.#steadyMs = steadyMs;
    this.#nowMs = Math.max(this.#nowMs, Math.floor(wallMs - this.#setByMs));
    return this.#nowMs;
  }

  #leapt(leapMs: number, steadyMs: number): void {
    const up = { steadyMs, upMs: this.#machine.upMs() };
    const sleptMs = up.upMs - this.#up.upMs - (up.steadyMs - this.#up.steadyMs);
    this.#up = up;
    if (Math.abs(leapMs - sleptMs) > putRightMs) this.#setByMs += Math.round(leapMs - sleptMs);
  }

  /** How far the machine's clock was set since this one began: forward, or back where below zero. */
  get setByMs(): number {
    this.nowMs();
    return this.#setByMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}
