/** The thread in which an experiment runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Experiment, type LabEvent, runExperiment } from './experiment.ts';
import { nowAndThen } from './now-and-then.ts';

const post = (event: LabEvent): void => parentPort!.postMessage(event);
const postShare = nowAndThen(100, () => performance.now(), post);
await runExperiment(workerData as Experiment, (event) => (event.kind === 'progress' ? postShare(event) : post(event)));
