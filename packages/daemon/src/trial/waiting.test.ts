/** What a person at a terminal sees of a page that is not looked at because of hours. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { revisitHere } from './command-here.ts';
import { freshFolder, serve } from './command.ts';
import { quietNow } from './quiet-now.ts';

test('pages and show say why a page waits, and until when', async () => {
  const folder = freshFolder();
  const data = join(folder, 'data');
  const config = join(folder, 'revisit.yaml');
  const url = 'http://127.0.0.1:9/page';
  writeFileSync(config, JSON.stringify({ data, pages: [{ url }], sites: { '127.0.0.1': { quiet: quietNow() } } }));
  const daemon = await serve([config, '--allow-network', '127.0.0.0/8']);
  try {
    const said = /\(waits: quiet hours of 127\.0\.0\.1 until \d{4}-\d\d-\d\d \d\d:\d\d\)/;
    const pages = await revisitHere(['pages', '--data', data]);
    expect(pages.out).toContain(url);
    expect(pages.out).toMatch(said);
    const show = await revisitHere(['show', url, '--data', data]);
    expect(show.code).toBe(2);
    expect(show.err).toMatch(said);
  } finally {
    await daemon.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
