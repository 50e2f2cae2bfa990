/**
 * A network of its own for a process, joined to this machine by one cable that can be pulled: what is sent over a pulled
 * cable vanishes without a word, which no relay can show. Needs Linux, `ip` and the right to make namespaces.
 */
import { spawnSync } from 'node:child_process';

export interface Namespace {
  /** This machine's address as seen from inside. */
  readonly home: string;
  /** The address inside as seen from here. */
  readonly away: string;
  /** Words to put before a command so that it runs inside. */
  readonly inside: readonly string[];
  pull(): void;
  plug(): void;
  end(): void;
}

const ip = (...words: string[]): boolean => spawnSync('ip', words, { stdio: 'ignore' }).status === 0;

/** Undefined where the machine does not allow it. */
export function namespace(number: number): Namespace | undefined {
  const [name, near, far] = [`revisit-${number}`, `rv${number}a`, `rv${number}b`];
  const [home, away] = [`10.231.${number % 256}.1`, `10.231.${number % 256}.2`];
  const end = (): void => {
    ip('netns', 'del', name);
    ip('link', 'del', near);
  };
  const made =
    process.platform === 'linux' &&
    ip('netns', 'add', name) &&
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far) &&
    ip('link', 'set', far, 'netns', name) &&
    ip('addr', 'add', `${home}/24`, 'dev', near) &&
    ip('link', 'set', near, 'up') &&
    ip('netns', 'exec', name, 'ip', 'addr', 'add', `${away}/24`, 'dev', far) &&
    ip('netns', 'exec', name, 'ip', 'link', 'set', far, 'up') &&
    ip('netns', 'exec', name, 'ip', 'link', 'set', 'lo', 'up');
  if (!made) {
    end();
    return undefined;
  }
  return {
    home,
    away,
    inside: ['netns', 'exec', name],
    pull: () => void ip('link', 'set', near, 'down'),
    plug: () => void ip('link', 'set', near, 'up'),
    end,
  };
}
