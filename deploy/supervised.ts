/**
 * A process that is started again when it ends by itself:
 *
 *   runs      until it ends; if it was asked wrongly, which is when it ends with 2 within its first minute, it would be so again
 *   waits     a second, twice as long after each end, up to half a minute; one that ran for a minute begins anew
 *   over      it was told to end, and is killed if it does not
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { leash } from '../packages/daemon/src/trial/leash.ts';

const waitMsMin = 1_000;
const waitMsMax = 30_000;
/** Whoever ran for so long did not end for the reason that the one before did. */
const usuallySoundMs = 60_000;

/** Coordinators hand over within seconds; what a robot has begun at a slow site is asked for again at the next start. */
const endMsMax = 15_000;

export interface Supervised {
  /** Tells it to end, and resolves when it has, also where it was stopped and hears nothing. */
  end(): Promise<void>;
}

export interface Supervision {
  readonly name: string;
  readonly start: () => ChildProcess;
  readonly say: (line: string) => void;
  readonly wrong: () => void;
  readonly patienceMs?: number;
  readonly soundMs?: number;
}

export function supervise(supervision: Supervision): Supervised {
  const { name, start, say, wrong, patienceMs = endMsMax, soundMs = usuallySoundMs } = supervision;
  let child: ChildProcess | undefined;
  let [over, first] = [false, true];
  let waitMs = waitMsMin;
  let waiting: NodeJS.Timeout | undefined;
  let ended = (): void => {};
  const run = (): void => {
    const startedMs = performance.now();
    child = start();
    // A program that cannot be run at all.
    child.once('error', (error) => {
      child = undefined;
      ended();
      say(`${name}: ${error.message}`);
      if (!over) wrong();
    });
    child.once('exit', (code, signal) => {
      child = undefined;
      ended();
      if (over) return;
      const isSound = performance.now() - startedMs > soundMs;
      // A server that panics ends with 2 as well, whenever that is.
      if (code === 2 && first && !isSound) {
        say(`${name} was asked wrongly (it ended with 2), so all ends`);
        return wrong();
      }
      first = false;
      if (isSound) waitMs = waitMsMin;
      const how = signal === null ? `with ${code}` : `by ${signal}`;
      say(`${name} ended ${how}; starts again in ${waitMs / 1000} s`);
      waiting = setTimeout(run, waitMs);
      waitMs = Math.min(waitMsMax, 2 * waitMs);
    });
  };
  run();
  return {
    end: () =>
      new Promise((done) => {
        over = true;
        clearTimeout(waiting);
        if (!child) return done();
        const impatient = setTimeout(() => {
          say(`${name} does not end within ${patienceMs / 1000} s and is killed`);
          child?.kill('SIGKILL');
        }, patienceMs);
        ended = () => done(clearTimeout(impatient));
        child.kill('SIGTERM');
      }),
  };
}

/** With what it says on its standard error told line by line. It ends with us at the latest, however that is. */
export function spawned(
  name: string,
  command: string,
  words: readonly string[],
  say: Supervision['say'],
): ChildProcess {
  // Of a group of its own: Ctrl-C, which a terminal sends to all of ours, must not end servers under the feet of their users.
  const child = leash(spawn(command, words, { stdio: ['ignore', 'ignore', 'pipe'], detached: true }));
  createInterface(child.stderr).on('line', (line) => say(`${name}: ${line}`));
  return child;
}
