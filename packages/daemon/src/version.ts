import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string };

export const version = manifest.version;

/** How this program names itself to the sites it visits; what a header cannot hold is escaped, as in a URL. */
export function userAgentOf(contact = 'operator did not leave a contact'): string {
  const plain = contact.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent);
  return `revisit/${version} (page change monitor; ${plain})`;
}
