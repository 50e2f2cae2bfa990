/**
 * Which robots are there, as a coordinator knows it: from what comes back, and from those that say so. One that has gone is named for
 * a while with when it was last heard, and then forgotten.
 */
import { Lately, type Observation, type RobotReport } from 'revisit/ports';

const silentMsMax = 10 * 60_000;
/** For how many leases one that says nothing is taken to be there. */
const thereLeases = 2;
const usualLeaseMs = 4_000;
/** More robots than any coordinator has; the longest silent are forgotten first. */
const robotsMax = 2_000;
/** What robots say of themselves is theirs to choose. */
const processForm = /^[\w.-]{1,80}$/;

interface Robot {
  readonly name: string;
  readonly process: string;
  /** When it was first heard of, or again after it was forgotten. */
  readonly sinceMs: number;
  readonly lately: Lately;
  looks: number;
  handedBack: number;
  lastHeardMs: number;
}

export class CrewBook {
  /** Those heard last come last. */
  readonly #robots = new Map<string, Robot>();

  /** `name` is a word of a subject, and so without spaces. */
  heard(name: string, said: string, { outcome, requests }: Observation, nowMs: number): void {
    const robot = this.#robot(name, said, nowMs);
    if (outcome.kind === 'refused' && outcome.siteUntilMs !== undefined && requests === 0) {
      robot.handedBack++;
    } else {
      robot.looks++;
      robot.lately.add(1, nowMs);
    }
  }

  /** It says so, with or without work. */
  there(name: string, said: string, nowMs: number): void {
    this.#robot(name, said, nowMs);
  }

  #robot(name: string, said: string, nowMs: number): Robot {
    const process = processForm.test(said) ? said : '';
    const key = `${name} ${process}`;
    const known = this.#robots.get(key);
    const counts = { sinceMs: nowMs, lately: new Lately(60_000), looks: 0, handedBack: 0, lastHeardMs: nowMs };
    const robot = known ?? { name, process, ...counts };
    robot.lastHeardMs = nowMs;
    this.#robots.delete(key);
    this.#robots.set(key, robot);
    if (this.#robots.size > robotsMax) this.#robots.delete(this.#robots.keys().next().value!);
    return robot;
  }

  reports(nowMs: number, leaseMs = usualLeaseMs): readonly RobotReport[] {
    for (const [key, { lastHeardMs }] of this.#robots) {
      if (nowMs - lastHeardMs <= silentMsMax) break;
      this.#robots.delete(key);
    }
    return Array.from(this.#robots.values(), ({ lately, ...robot }) => ({
      ...robot,
      there: nowMs - robot.lastHeardMs <= thereLeases * leaseMs,
      looksLastMinute: lately.count(nowMs),
    }));
  }
}
