/** The thread that writes: one message, one transaction. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSqlite } from './sqlite.ts';
import type { WriterQuestion } from './writer.ts';

const opened = openSqlite((workerData as { file: string }).file);
if (opened.kind === 'failed') throw new Error(opened.sentence);
const { store } = opened;
const port = parentPort!;

port.on('message', async (question: WriterQuestion) => {
  if (question.kind === 'write') {
    port.postMessage(await store.together(question.batches));
  } else {
    await store.close();
    port.close();
  }
});
