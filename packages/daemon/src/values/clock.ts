/** Time as the daemon knows it. The real one and a virtual one stand behind this; nothing else reads a clock. */
export interface Clock {
  /** Whole milliseconds since the epoch: stores keep times as such. */
  nowMs(): number;
  /** Resolves after that long, or at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      // setTimeout fires at once for more than 2^31-1 ms; waking early is harmless, every sleeper looks at the clock again.
      const timer = setTimeout(done, Math.min(Math.max(0, ms), 2 ** 31 - 1));
      function done(): void {
        signal?.removeEventListener('abort', done);
        clearTimeout(timer);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
    }),
};

const begunMs = Date.now() - performance.now();

/** For whoever takes times only against each other, or against another's: it goes on evenly when somebody puts the machine's clock right. */
export const steadyClock: Clock = {
  nowMs: () => Math.floor(begunMs + performance.now()),
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};
