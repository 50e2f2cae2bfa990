/** Words between coordinators that are worth hearing and no loss when missed. */
import { type NatsConnection, headers } from '@nats-io/transport-node';
import { subjects } from './streams.ts';

/** Ids of pages in one notice: well below the 1 MB that NATS takes. */
const noticeIdsMax = 10_000;

export function sayNotice(connection: NatsConnection, kind: string, ids: readonly string[]): void {
  if (connection.isClosed()) return;
  const words = headers();
  words.set('kind', kind);
  // At least one, as a notice may be about no page.
  for (let from = 0; from === 0 || from < ids.length; from += noticeIdsMax) {
    const some = ids.slice(from, from + noticeIdsMax);
    connection.publish(subjects.notice, JSON.stringify(some), { headers: words });
  }
}
