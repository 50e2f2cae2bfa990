/** What a stage would not understand of a page's settings, said when they are made and not at the first look. */
import { readOptions } from './detect/options.ts';
import type { NewPageSettings, Select } from './values/page.ts';

/** Every name that some stage reads; `discovered` is written by the daemon and comes back with an export. */
const optionNames = ['as', 'normalise', 'tell', 'items', 'noise', 'keepRaw', 'keep', 'discover'];

/** What reads expressions is large; most pages have none. */
async function expressionWrong(select: Select): Promise<string | undefined> {
  return 'expression' in select ? (await import('./detect/project.ts')).selectorWrong(select) : undefined;
}

export async function settingsWrong({ select, options }: Partial<NewPageSettings>): Promise<string | undefined> {
  const wrong = select && (await expressionWrong(select));
  if (wrong !== undefined) return `select: ${wrong}`;
  if (!options) return undefined;
  const stranger = Object.keys(options).find((name) => name !== 'discovered' && !optionNames.includes(name));
  if (stranger !== undefined)
    return `options.${stranger}: no option has this name; ${optionNames.join(', ')} are known`;
  const read = readOptions(options);
  if (read.kind === 'wrong')
    return `options.${read.field}: ${JSON.stringify(read.value) ?? 'nothing'} is not allowed; ${read.allowed} is expected`;
  for (const [i, expression] of read.options.normalise.remove.entries()) {
    const unfit = await expressionWrong({ kind: 'css', expression });
    if (unfit !== undefined) return `options.normalise.remove[${i}]: ${unfit}`;
  }
  return undefined;
}
