/** The demonstration, started from the dashboard: a daemon of its own beside this one, at an address of its own. */
import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { type Api, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { problem } from './problem.ts';

/** Half an hour a second: a week passes while one looks on. */
const speed = 1_800;
const looksPerHour = 150;

export function demoRoute(app: Api, desk: Desk): void {
  const stop = new AbortController();
  let url: Promise<string | undefined> | undefined;
  app.addHook('onClose', () => stop.abort());

  const schema = operation({
    tag: 'system',
    summary: 'Start the demonstration: a living web on loopback, watched by a daemon of its own in fast time',
    answers: { 200: Type.Object({ url: Type.String({ description: 'Where its dashboard is.' }) }) },
  });
  app.post('/api/demo', { schema, config: { scope: 'admin' } }, async (request, reply) => {
    if (!desk.loop) return notRunning(reply);
    // Its daemon answers on loopback only, so only a browser on this machine could open it.
    if (request.caller?.via !== 'local')
      return problem(
        reply,
        409,
        'demo-elsewhere',
        'The demonstration runs on loopback; start it there with "revisit demo".',
      );
    url ??= begin(desk, stop.signal);
    const address = await url;
    if (address !== undefined) return { url: address };
    url = undefined;
    return problem(reply, 409, 'demo-failed', 'The demonstration could not start; "revisit demo" says why.');
  });
}

async function begin(desk: Desk, signal: AbortSignal): Promise<string | undefined> {
  // Loaded only when it is wanted: most daemons never show it.
  const [{ startDemo }, { settle }] = await Promise.all([import('../demo/demo.ts'), import('../config/config.ts')]);
  const config = settle({}, { port: '0', logLevel: 'warn' });
  if (config.kind === 'wrong') return undefined;
  const demo = await startDemo({ speed, looksPerHour, seed: 1, config: config.value }, signal);
  if ('kind' in demo) return undefined;
  demo.ended.catch((error: unknown) => desk.log('error', 'the demonstration ended badly', { error: String(error) }));
  return `${demo.url}/#/demo`;
}
