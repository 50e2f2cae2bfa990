/**
 * For tests of what documents tell people to type: one process that carries out a session's commands one after another, as if each had
 * been started by itself. Starting one takes a second, a session has a dozen, and that the command starts at all is tested elsewhere.
 *
 * It waits in the session's folder. Whoever has a command puts its words into DESK/words, each ended by a zero, and a line into
 * the pipe DESK/ask; what the command said is in DESK/out and DESK/err when its exit code comes out of the pipe DESK/answer.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { main } from '../cli/program.ts';

const desk = process.argv[2]!;
const tell = { out: '', err: '' };
const heard =
  (where: 'out' | 'err') =>
  (chunk: unknown, ...rest: unknown[]): boolean => {
    tell[where] += typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString();
    const done = rest.at(-1);
    if (typeof done === 'function') (done as () => void)();
    return true;
  };
process.stdout.write = heard('out');
process.stderr.write = heard('err');

for (;;) {
  await readFile(join(desk, 'ask'));
  Object.assign(tell, { out: '', err: '' });
  const words = (await readFile(join(desk, 'words'), 'utf8')).split('\0').slice(0, -1);
  const code = await main(words).catch((error: unknown) => {
    tell.err += String(error);
    return 1;
  });
  await writeFile(join(desk, 'out'), tell.out);
  await writeFile(join(desk, 'err'), tell.err);
  await writeFile(join(desk, 'answer'), `${code}\n`);
}
