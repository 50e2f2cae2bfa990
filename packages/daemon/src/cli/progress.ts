/** A bar on a terminal, nothing elsewhere. It is drawn on stderr: results have stdout to themselves. */
import { SingleBar } from 'cli-progress';

export interface Progress {
  to(done: number, what?: string): void;
  end(): void;
}

export function progress(title: string, total: number): Progress {
  if (!process.stderr.isTTY) return { to: () => {}, end: () => {} };
  const bar = new SingleBar({
    format: `${title} [{bar}] {value}/{total} {what}`,
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stderr,
    barsize: 30,
  });
  bar.start(total, 0, { what: '' });
  return {
    to: (done, what) => bar.update(Math.round(Math.min(done, total)), { what: what ?? '' }),
    end: () => bar.stop(),
  };
}
