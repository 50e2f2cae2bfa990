/** A way to a port of this machine that leads over a cable: out into a network of its own and back. Pulled, it is silent. */
import { spawn } from 'node:child_process';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { type Namespace, namespace } from './namespace.ts';
import { answers, freePort } from './postgres-server.ts';

export interface Cable extends Pick<Namespace, 'pull' | 'plug' | 'end'> {
  readonly host: string;
  readonly port: number;
}

const relay = (port: number, home: string, to: number): string => `
  require('node:net').createServer((near) => {
    const far = require('node:net').connect(${to}, '${home}');
    for (const [one, other] of [[near, far], [far, near]]) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(${port}, '0.0.0.0');`;

/** Undefined where the machine makes no network namespaces. */
export async function cable(number: number, to: number): Promise<Cable | undefined> {
  const place = namespace(number);
  if (!place) return undefined;
  const port = await freePort();
  const words = [...place.inside, process.execPath, '-e', relay(port, place.home, to)];
  const child = leash(spawn('ip', words, { stdio: 'ignore' }));
  while (!(await answers(port, place.away))) {
    if (child.exitCode !== null) throw new Error(`The relay behind the cable ended with ${child.exitCode}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    host: place.away,
    port,
    pull: () => place.pull(),
    plug: () => place.plug(),
    end: () => {
      child.kill('SIGKILL');
      place.end();
    },
  };
}
