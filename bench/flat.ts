/**
 * Memory over a million probes: the whole way from dispatch to the store on loopback, pages that change now and then, in a
 * process of its own. What lives after a collection of garbage must not grow with the number of probes made.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../house/bench.ts';
import { pages, startOurs, startWeb } from './observe.ts';

const probes = 1_000_000;
const samples = 10;
/** Caches fill in the first part; from there on memory may move by this much. */
const settledShare = 0.2;
const growthMax = 1.1;

interface Sample {
  readonly probes: number;
  readonly megabytes: number;
}

/** In the child: looks at everything again and again, and says what lives. */
async function run(): Promise<void> {
  const web = await startWeb('validators');
  const ours = await startOurs(web.urls);
  for (let pass = 1; pass * pages <= probes; pass++) {
    await web.advance();
    await ours.pass();
    if ((pass * pages) % (probes / samples) >= pages) continue;
    global.gc!();
    const { heapUsed, external } = process.memoryUsage();
    const sample: Sample = { probes: pass * pages, megabytes: (heapUsed + external) / 2 ** 20 };
    process.stdout.write(`${JSON.stringify(sample)}\n`);
  }
  await ours.close();
  web.close();
}

export const bench: Bench = async (say) => {
  const child = spawn(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const taken: Sample[] = [];
  let text = '';
  child.stdout.on('data', (data: Buffer) => {
    text += data.toString();
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const sample = JSON.parse(text.slice(0, end)) as Sample;
      text = text.slice(end + 1);
      taken.push(sample);
      say(`${sample.probes.toLocaleString('en')} probes: ${sample.megabytes.toFixed(1)} MB live`);
    }
  });
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const settled = taken.find((sample) => sample.probes >= settledShare * probes);
  const last = taken.at(-1);
  if (status !== 0 || !settled || !last) throw new Error(`the child ended with ${status}`);
  const growth = last.megabytes / settled.megabytes;
  return [
    {
      what: `memory after ${last.probes.toLocaleString('en')} probes of ${pages.toLocaleString('en')} pages`,
      ours: `${last.megabytes.toFixed(1)} MB`,
      rival: `${settled.megabytes.toFixed(1)} MB after ${settled.probes.toLocaleString('en')}`,
      ratio: `${growth.toFixed(2)} (≤ ${growthMax})`,
      holds: growth <= growthMax,
    },
  ];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await run();
