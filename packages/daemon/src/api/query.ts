import type { FastifyReply } from 'fastify';
import type { Desk } from '../desk.ts';
import type { ListedPage, PageQuery } from '../store/port.ts';
import { problem } from './problem.ts';

/** A cursor of the log of changes or of a list of pages; undefined when the text is none. */
export function cursorOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  const number = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}

export function badCursor(reply: FastifyReply, given: unknown): FastifyReply {
  return problem(
    reply,
    400,
    'bad-cursor',
    `"${String(given).slice(0, 80)}" is no cursor; a cursor from an earlier answer, or 0, is expected`,
  );
}

/** Pages in the order in which they were added, and the cursor from which the rest follows. */
export async function listed(
  desk: Desk,
  query: PageQuery,
): Promise<{ readonly pages: readonly ListedPage[]; readonly next: string | null }> {
  const pages = await desk.store.pages(query);
  return { pages, next: pages.length === query.limit ? String(pages.at(-1)!.place) : null };
}
