/** What is ignored on a page because it differs without meaning anything, and the user's word on it. */
import { Type } from '@sinclair/typebox';
import { noiseOf } from '../detect/shown.ts';
import type { Desk } from '../desk.ts';
import { timeText } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { notWatched } from './pages.ts';
import { problem } from './problem.ts';
import { NoiseBody, idParams } from './schemas.ts';

function noiseBody(part: ReturnType<typeof noiseOf>[number]): Record<string, unknown> {
  const { sinceMs, watched, id, kind, pattern, example, why } = part;
  return { id, kind, pattern, example, why, since: timeText(sinceMs), ignored: watched !== true };
}

export function noiseRoutes(app: Api, desk: Desk): void {
  const list = operation({
    tag: 'history',
    summary: 'Parts of the page that were found to be noise',
    params: idParams,
    answers: { 200: Type.Object({ noise: Type.Array(NoiseBody) }) },
  });
  app.get('/api/pages/:id/noise', { schema: list }, async (request, reply) => {
    const watched = await desk.store.page(request.params.id);
    if (!watched) return notWatched(reply, request.params.id);
    return { noise: noiseOf(watched.state.detectState).map(noiseBody) };
  });

  const set = operation({
    tag: 'history',
    summary: 'Ignore a noisy part, or watch it after all',
    params: Type.Object({ ...idParams.properties, part: Type.String({ maxLength: 64 }) }),
    body: Type.Object({ ignored: Type.Boolean() }, { additionalProperties: false }),
    answers: { 200: NoiseBody },
  });
  app.patch('/api/pages/:id/noise/:part', { schema: set }, async (request, reply) => {
    const { id, part } = request.params;
    if (!(await desk.store.page(id))) return notWatched(reply, id);
    const parts = await desk.setNoise(id, part, request.body.ignored);
    const found = parts?.find((candidate) => candidate.id === part);
    return found ? noiseBody(found) : problem(reply, 404, 'noise-unknown', `Page ${id} has no noisy part ${part}.`);
  });
}
