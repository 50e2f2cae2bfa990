/** The thread in which an experiment runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Experiment, runExperiment } from './experiment.ts';

await runExperiment(workerData as Experiment, (event) => parentPort!.postMessage(event));
