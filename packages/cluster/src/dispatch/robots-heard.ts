/**
 * What robots.txt of origins forbids, as robots say with looks at pages from which others are found: a coordinator reads none itself, and
 * would watch found pages that no robot may visit. What it knows is for finding pages alone; whoever looks reads it anew.
 */
import { type Observation, type RobotsRules, isAllowed, parseRobots } from 'revisit/ports';

/** Origins that are remembered, of a few rules each; the least lately heard of is forgotten. */
const originsMax = 10_000;

export class RobotsHeard {
  readonly #rules = new Map<string, RobotsRules>();

  heard({ probe, robots }: Observation): void {
    const origin = robots && URL.parse(probe.url)?.origin;
    if (!robots || origin === undefined) return;
    const lines = robots.map(({ allow, path }) => `${allow ? 'Allow' : 'Disallow'}: ${path}`);
    this.#rules.delete(origin);
    this.#rules.set(origin, parseRobots(['User-agent: *', ...lines].join('\n'), ''));
    if (this.#rules.size > originsMax) this.#rules.delete(this.#rules.keys().next().value!);
  }

  /** As far as it is known. */
  allows(url: string): boolean | undefined {
    const { origin, pathname, search } = new URL(url);
    const rules = this.#rules.get(origin);
    return rules && isAllowed(rules, pathname + search);
  }
}
