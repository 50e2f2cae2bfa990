/**
 * The daemon on this machine's clock, begun anew when somebody sets it. Until then all waits go on by the time that was, so no site
 * is asked sooner for it; from then on the new time holds for everybody, quiet hours and digests included. Nobody waits for a moment
 * that a clock set back has put hours away, because what a new process takes up never does.
 */
import type { Config } from './config/config.ts';
import { startDaemon, type World } from './daemon.ts';
import { createLog } from './log.ts';
import { EvenClock } from './dispatch/even-clock.ts';

/** How often it is looked whether somebody set the clock. */
const lookMs = 1_000;

type Ended = { readonly kind: 'ended' } | { readonly kind: 'wrong'; readonly sentence: string };

export type Living =
  | { readonly kind: 'started'; readonly url: string; readonly ended: Promise<Ended> }
  | { readonly kind: 'wrong'; readonly sentence: string };

/** Lives until the signal. A world with a clock of its own has only one life. */
export async function live(
  config: Config,
  signal: AbortSignal,
  world: World = {},
  newClock: () => EvenClock = () => new EvenClock(),
): Promise<Living> {
  const log = createLog(config.logLevel);
  const begin = async (port: number, clockSetByMs: number) => {
    const clock = world.clock ? undefined : newClock();
    const life = new AbortController();
    const end = (): void => life.abort('ended');
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const place = clock ? { ...world, clock, clockSetByMs } : world;
    return { clock, life, started: await startDaemon({ ...config, port }, life.signal, place) };
  };
  const first = await begin(config.port, 0);
  if (first.started.kind === 'wrong') return first.started;
  const { url } = first.started.daemon;
  const port = Number(new URL(url).port);

  const goOn = async (): Promise<Ended> => {
    for (let now = first; ;) {
      if (now.started.kind === 'wrong') return now.started;
      const { clock, life, started } = now;
      if (clock && (await wasSet(clock, life.signal))) {
        log('warn', 'the clock was set; all begins anew by it', { seconds: Math.round(clock.setByMs / 1000) });
        life.abort('begins anew');
      }
      await started.daemon.ended;
      if (signal.aborted || !clock) return { kind: 'ended' };
      now = await begin(port, clock.setByMs);
    }
  };
  return { kind: 'started', url, ended: goOn() };
}

/** Waits until somebody sets the clock; false when the life ends before. */
async function wasSet(clock: EvenClock, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && clock.setByMs === 0) await clock.sleep(lookMs, signal);
  return !signal.aborted;
}
