/**
 * The house rules about imports, as data. A folder may import from the folders named beside it and from itself; the
 * longest matching prefix decides. Tests (`*.test.ts`) may import anything.
 */

export interface Room {
  /** A path prefix, from the root of the repository. */
  readonly folder: string;
  /** Prefixes of other rooms whose files may be imported. */
  readonly may: readonly string[];
  /** npm packages, workspace packages and Node's own modules; `node:*` allows all of Node's. */
  readonly packages: readonly string[];
}

const core = 'packages/core/src';
const daemon = 'packages/daemon/src';

export const rooms: readonly Room[] = [
  { folder: `${core}/time`, may: [], packages: [] },
  { folder: `${core}/model`, may: [`${core}/time`], packages: [] },
  { folder: `${core}/loss`, may: [`${core}/time`, `${core}/model`], packages: [] },
  { folder: `${core}/plan`, may: [`${core}/time`, `${core}/model`, `${core}/loss`], packages: [] },
  { folder: `${core}/learn`, may: [`${core}/time`, `${core}/model`], packages: [] },
  { folder: `${core}/dispatch`, may: [`${core}/time`, `${core}/model`, `${core}/loss`, `${core}/plan`], packages: [] },
  {
    folder: `${core}/policy`,
    may: ['time', 'model', 'loss', 'plan', 'learn', 'dispatch'].map((name) => `${core}/${name}`),
    packages: [],
  },
  {
    folder: `${core}/simulate`,
    may: ['time', 'model', 'loss', 'policy'].map((name) => `${core}/${name}`),
    packages: [],
  },
  {
    folder: `${core}/solve`,
    may: ['time', 'model', 'loss', 'plan', 'learn', 'simulate'].map((name) => `${core}/${name}`),
    packages: [],
  },
  { folder: core, may: [core], packages: [] },

  // Stages of the daemon do not import each other: what passes between them are the values in `values/`.
  { folder: `${daemon}/values`, may: [], packages: ['@revisit/core', 'ipaddr.js', 'tldts'] },
  {
    folder: `${daemon}/observe`,
    may: [`${daemon}/values`],
    packages: [
      '@revisit/core',
      'node:*',
      'undici',
      'ipaddr.js',
      'tldts',
      'saxes',
      'feedsmith',
      'parse5',
      'playwright-core',
    ],
  },
  { folder: `${daemon}/observe/test`, may: [`${daemon}/values`, `${daemon}/observe`], packages: ['node:*', 'vitest'] },
  {
    folder: `${daemon}/detect`,
    may: [`${daemon}/values`],
    packages: [
      '@revisit/core',
      'node:*',
      'parse5',
      'parse5-htmlparser2-tree-adapter',
      'css-select',
      'domhandler',
      'fontoxpath',
      'json-p3',
      'jq-web',
      'saxes',
      '@mozilla/readability',
      'linkedom',
      'feedsmith',
      'fast-myers-diff',
    ],
  },
  { folder: `${daemon}/store`, may: [`${daemon}/values`], packages: ['@revisit/core', 'node:*', 'better-sqlite3'] },
  {
    folder: `${daemon}/tell`,
    may: [`${daemon}/values`],
    packages: ['@revisit/core', 'node:*', 'undici', 'nodemailer', 'temporal-polyfill'],
  },
  {
    folder: `${daemon}/config`,
    may: [`${daemon}/values`],
    packages: ['@revisit/core', 'node:*', 'yaml', 'zod', 'temporal-polyfill'],
  },
  // What the loop is made of. Prices and pages know nothing of who leaves when; who leaves knows the queue it feeds; the queue
  // knows the stages it runs. `loop-parts.ts` are the types of what each is given.
  {
    folder: `${daemon}/collection`,
    may: ['values', 'config', 'observe', 'store'].map((name) => `${daemon}/${name}`),
    packages: ['@revisit/core', 'node:*'],
  },
  {
    folder: `${daemon}/plan`,
    may: ['values', 'collection', 'loop.ts'].map((name) => `${daemon}/${name}`),
    packages: ['@revisit/core', 'node:*'],
  },
  {
    folder: `${daemon}/dispatch`,
    may: ['values', 'collection', 'plan', 'indexing', 'store', 'loop-parts.ts', 'loop.ts'].map(
      (name) => `${daemon}/${name}`,
    ),
    packages: ['@revisit/core', 'node:*'],
  },
  {
    folder: `${daemon}/indexing`,
    may: ['values', 'collection', 'dispatch', 'observe', 'detect', 'store', 'tell', 'loop-parts.ts'].map(
      (name) => `${daemon}/${name}`,
    ),
    packages: ['@revisit/core', 'node:*'],
  },
  // Trials ask the house where programs are that this machine may not have, such as a browser.
  { folder: `${daemon}/trial`, may: ['house', daemon], packages: ['*'] },
  { folder: daemon, may: [daemon], packages: ['*'] },
  {
    folder: 'packages/cluster/src/trial',
    // It reads who holds which shard where the coordinators keep it, to see whether the work is shared evenly, and runs the
    // daemon's loop with the cluster's own parts in virtual time.
    may: ['house', daemon, ...['store', 'dispatch', 'observers'].map((name) => `packages/cluster/src/${name}`)],
    packages: ['*'],
  },
  { folder: 'packages/cluster/src', may: [], packages: ['*'] },
  {
    folder: 'packages/dashboard/src',
    // The generated client is types and one function: what the API promises, and nothing of the daemon.
    // The form of the demonstration's report is types, and what it says when.
    may: ['packages/daemon/src/api/client.ts', 'packages/daemon/src/demo/report-form.ts'],
    packages: ['@revisit/core', 'preact', 'uplot'],
  },
  { folder: 'experiments', may: [], packages: ['@revisit/core', 'revisit', 'node:*'] },
  { folder: 'bench', may: ['house', daemon, core, 'packages/cluster/src'], packages: ['*'] },
  {
    folder: 'deploy',
    may: ['house', 'packages/cluster/src/access', 'packages/cluster/src/trial', `${daemon}/store`, `${daemon}/trial`],
    packages: ['*'],
  },
  { folder: 'house', may: [daemon, 'packages/cluster/src/trial'], packages: ['*'] },
];

/** Names that say nothing about what lives there. */
export const dumpingGrounds = /(^|\/)(utils?|helpers?|common|misc|shared|lib)(\/|\.tsx?$)/;

/** What core must not touch: clocks, randomness, timers, processes, networks. */
export const coreForbidden: readonly RegExp[] = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bMath\.random\b/,
  /\bperformance\b/,
  /\bsetTimeout\b/,
  /\bsetInterval\b/,
  /\bprocess\b\./,
  /\bfetch\(/,
  /\bcrypto\b/,
  /\bconsole\b/,
];

export function roomOf(file: string): Room | undefined {
  let best: Room | undefined;
  for (const room of rooms) {
    if (file.startsWith(`${room.folder}/`) && (!best || room.folder.length > best.folder.length)) best = room;
  }
  return best;
}
