/** The OpenAPI document by itself, without a daemon: for the generated client and for whoever wants it as a file. */
import { Desk } from '../desk.ts';
import { openSqlite } from '../store/sqlite.ts';
import { systemClock } from '../values/clock.ts';
import { createApi } from './server.ts';

export async function openApiDocument(): Promise<Record<string, unknown>> {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const app = createApi(new Desk(opened.store, systemClock, () => {}));
  await app.ready();
  const document = app.swagger() as unknown as Record<string, unknown>;
  await app.close();
  await opened.store.close();
  return document;
}
