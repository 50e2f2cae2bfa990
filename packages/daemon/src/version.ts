import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string };

export const version = manifest.version;

/** How this program names itself to the sites it visits. */
export function userAgentOf(contact: string | undefined): string {
  return `revisit/${version} (page change monitor; ${contact ?? 'operator did not leave a contact'})`;
}
