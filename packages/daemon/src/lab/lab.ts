/**
 * Experiments on the collection's own history or on a trace, one at a time, each in a thread of its own. The last few are remembered
 * while the process lives; a result is made again as easily as it is kept.
 */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import type { Experiment, ExperimentResult, History, LabEvent } from './experiment.ts';

export interface Run {
  readonly id: string;
  readonly startedAtMs: number;
  /** What it runs on: a trace by its name, or the own history. */
  readonly trace: string | undefined;
  readonly policies: readonly string[];
  readonly budgets: readonly number[];
  state: 'running' | 'done' | 'failed';
  /** 0 to 1. */
  progress: number;
  result?: ExperimentResult;
  sentence?: string;
}

const runsMax = 20;
/** The newest changes that are replayed: enough for a year of a large collection. */
const eventsMax = 500_000;
const readBatch = 5_000;

/** Who changed when, newest first until there are enough; of each name also the pages that have it. */
export async function historyOf(
  store: Pick<Store, 'latestChanges'>,
): Promise<History & { readonly pageIds: readonly (readonly string[])[] }> {
  const index = new Map<string, number>();
  const names: string[] = [];
  const sites: string[] = [];
  const pageIds: string[][] = [];
  const events: (readonly [number, number])[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; events.length < eventsMax;) {
    const changes = await store.latestChanges({ before, limit: readBatch });
    for (const change of changes) {
      before = change.sequence;
      if (change.kind !== 'changed') continue;
      let page = index.get(change.url);
      if (page === undefined) {
        index.set(change.url, (page = names.length));
        names.push(change.url.replace(/^https?:\/\//, ''));
        sites.push(change.site);
        pageIds.push([]);
      }
      if (!pageIds[page]!.includes(change.pageId)) pageIds[page]!.push(change.pageId);
      events.push([page, change.atMs / 1000]);
    }
    if (changes.length < readBatch) break;
  }
  return { names, sites, events, pageIds };
}

export class Lab {
  readonly #clock: Clock;
  readonly #runs: Run[] = [];
  #worker: Worker | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get runs(): readonly Run[] {
    return this.#runs;
  }

  start(experiment: Experiment, trace: string | undefined): Run {
    const run: Run = {
      id: randomUUID(),
      startedAtMs: this.#clock.nowMs(),
      trace,
      policies: experiment.policies,
      budgets: experiment.budgets,
      state: 'running',
      progress: 0,
    };
    this.#runs.unshift(run);
    if (this.#runs.length > runsMax) this.#runs.pop();
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: experiment });
    this.#worker = worker;
    const end = (change: Partial<Run>): void => {
      Object.assign(run, change);
      if (this.#worker === worker) this.#worker = undefined;
      void worker.terminate();
    };
    worker.on('message', (event: LabEvent) => {
      if (event.kind === 'progress') run.progress = event.share;
      else if (event.kind === 'done') end({ state: 'done', progress: 1, result: event.result });
      else end({ state: 'failed', sentence: event.sentence });
    });
    worker.on('error', (error: Error) => end({ state: 'failed', sentence: error.message }));
    return run;
  }

  /** Ends what runs; its entry stays, as failed. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
    for (const run of this.#runs)
      if (run.state === 'running') Object.assign(run, { state: 'failed', sentence: 'It was stopped.' });
    this.#worker = undefined;
  }
}
