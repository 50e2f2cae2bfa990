/** What a stage would not understand of a page's settings, said when they are made and not at the first look. */
import { readOptions } from './detect/options.ts';
import { selectorWrong } from './detect/project.ts';
import type { NewPageSettings } from './values/page.ts';

export function settingsWrong({ select, options }: Partial<NewPageSettings>): string | undefined {
  const wrong = select && selectorWrong(select);
  if (wrong !== undefined) return `select: ${wrong}`;
  const read = options && readOptions(options);
  if (read?.kind !== 'wrong') return undefined;
  return `options.${read.field}: ${JSON.stringify(read.value) ?? 'nothing'} is not allowed; ${read.allowed} is expected`;
}
