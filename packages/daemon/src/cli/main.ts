/** Where the process begins. */
import { expectShortLives } from '../short-lived.ts';
import { main } from './program.ts';

expectShortLives();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv.slice(2));

/** All is kept and closed by now: what a library still holds on to is said and not waited for, but whoever reads slowly is. */
const lingerMs = 5_000;
setTimeout(() => {
  if (process.stdout.writableLength + process.stderr.writableLength > 0) return;
  const held = process.getActiveResourcesInfo().join(', ');
  process.stderr.write(`revisit: all is closed, but the process was held (${held}); it ends now\n`, () =>
    process.exit(),
  );
}, lingerMs).unref();
