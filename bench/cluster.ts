/**
 * The cluster as real processes on one machine: looks per second with one, two and four robots, what dispatch costs a probe,
 * and the bytes between home and a distant robot, against those of an observer in its place, on pages that change rarely
 * and little. Everything shares the cores of the machine, so what more robots bring is seen where robots are the narrow
 * place (slow sites), as it is in real life.
 */
import type { Bench, Measurement } from '../house/bench.ts';
import { startNats } from '../packages/cluster/src/trial/nats-server.ts';
import { startPostgres } from '../packages/cluster/src/trial/postgres-server.ts';
import { dispatchRows } from './cluster/dispatch.ts';
import { linkRows } from './cluster/link.ts';
import { startWeb } from './cluster/processes.ts';
import { robotRows } from './cluster/robots.ts';
import { storeRows } from './cluster/storage.ts';

/** A part of the benchmark that fails is a row that does not hold. */
async function part(what: string, rows: Measurement[], measure: () => Promise<readonly Measurement[]>): Promise<void> {
  try {
    rows.push(...(await measure()));
  } catch (error) {
    rows.push({ what, ours: (error as Error).message, rival: 'an end', holds: false });
  }
}

export const bench: Bench = async (say) => {
  const rows: Measurement[] = [];
  const [web, postgres, nats] = await Promise.all([startWeb(), startPostgres(), startNats()]);
  try {
    say('looks with robots');
    await part('looks with robots', rows, () => robotRows(postgres, nats.url, web, say));
    say('what dispatch costs');
    await part('dispatch', rows, () => dispatchRows(nats.url));
    say('bytes over the link');
    await part('bytes over the link', rows, () => linkRows(postgres, web));
    say('bytes in the store');
    await part('bytes in the store', rows, () => storeRows(postgres));
  } finally {
    web.close();
    await Promise.all([postgres.end(), nats.end()]);
  }
  return rows;
};
