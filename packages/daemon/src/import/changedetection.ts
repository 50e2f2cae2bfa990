/**
 * A backup of changedetection.io: a zip with url-watches.json (or, in later releases, one watch.json in each watch's
 * folder), and the snapshots of each watch, listed in its history.txt.
 */
import { brotliDecompressSync } from 'node:zlib';
import { linesWithout, literal, word } from './expressions.ts';
import { approximated, type Found, impossible, type PastVersion } from './found.ts';
import { Unreadable } from './source.ts';
import { type Zip, openZip } from './zip.ts';

/** The newest so many snapshots of a watch are taken over. */
const versionsMax = 200;
/** And no more than this of one watch, so that a page fits into memory and into a request. */
const historyBytesMax = 16 * 2 ** 20;
const snapshotBytesMax = 8 * 2 ** 20;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const textsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value
        .map(String)
        .map((text) => text.trim())
        .filter((text) => text !== '')
    : [];

async function jsonOf(zip: Zip, name: string): Promise<Fields | undefined> {
  const entry = zip.entries.get(name);
  if (!entry) return undefined;
  const bytes = await zip.read(entry);
  try {
    return fieldsOf(JSON.parse(bytes.toString('utf8')));
  } catch {
    throw new Unreadable(`${name} in the archive is not JSON`);
  }
}

/** Watches by id, and the names of tags by id, from either layout. */
async function contentsOf(zip: Zip): Promise<{ watches: Map<string, Fields>; tags: Map<string, string> }> {
  const main = (await jsonOf(zip, 'url-watches.json')) ?? (await jsonOf(zip, 'changedetection.json'));
  const watches = new Map(Object.entries(fieldsOf(main?.['watching'])).map(([id, watch]) => [id, fieldsOf(watch)]));
  for (const name of zip.entries.keys()) {
    const id = /^([0-9a-f-]{36})\/watch\.json$/i.exec(name)?.[1];
    if (id !== undefined && !watches.has(id)) watches.set(id, (await jsonOf(zip, name))!);
  }
  const tags = new Map<string, string>();
  const listed = fieldsOf(fieldsOf(fieldsOf(main?.['settings'])['application'])['tags']);
  for (const [id, tag] of Object.entries(listed)) tags.set(id, word(fieldsOf(tag)['title']) || id);
  for (const name of zip.entries.keys()) {
    const id = /^([0-9a-f-]{36})\/tag\.json$/i.exec(name)?.[1];
    if (id !== undefined) tags.set(id, word((await jsonOf(zip, name))!['title']) || id);
  }
  return { watches, tags };
}

/** Their selections, one a line and of any kind, as the one selection a page has here. */
function selectOf(filters: readonly string[], where: string, notes: Found[]): string {
  const kinds = filters.map((filter) => {
    if (/^(xpath1?:|\/|\(\/)/.test(filter)) return { kind: 'xpath', text: filter.replace(/^xpath1?:/, '') };
    if (filter.startsWith('json:')) return { kind: 'jsonpath', text: filter.slice(5).trim() };
    if (/^jq(raw)?:/.test(filter)) return { kind: 'jq', text: filter.replace(/^jq(raw)?:/, '').trim() };
    return { kind: 'css', text: filter.replace(/^css:/, '') };
  });
  const first = kinds[0];
  if (!first) return 'text';
  const same = kinds.filter((one) => one.kind === first.kind);
  const joined =
    first.kind === 'css'
      ? same.map((one) => one.text).join(', ')
      : first.kind === 'xpath'
        ? same.map((one) => one.text).join(' | ')
        : first.text;
  const taken = first.kind === 'css' || first.kind === 'xpath' ? same.length : 1;
  if (taken < kinds.length)
    notes.push(
      approximated(
        where,
        `of ${kinds.length} selections ${taken} came over: a page has one here; add it again for the others`,
      ),
    );
  return `${first.kind}:${joined}`;
}

/** "/expression/flags" or plain words. */
const patternOf = (text: string): string => (/^\/.*\/[a-z]*$/s.test(text) ? text : `/${literal(text)}/i`);

function optionsOf(watch: Fields, where: string, notes: Found[]): Record<string, Record<string, unknown>> {
  const normalise: Record<string, unknown> = {};
  const tell: Record<string, unknown> = {};
  const remove = textsOf(watch['subtractive_selectors']);
  const xpathRemove = remove.filter((selector) => /^(xpath1?:|\/)/.test(selector));
  for (const selector of xpathRemove)
    notes.push(impossible(where, `parts are removed by CSS selector only, not by ${selector}`));
  if (remove.length > xpathRemove.length)
    normalise['remove'] = remove.filter((selector) => !xpathRemove.includes(selector));
  const ignore = textsOf(watch['ignore_text']).map(patternOf);
  const extract = textsOf(watch['extract_text']);
  if (extract.length > 0)
    ignore.push(linesWithout(extract.map((text) => patternOf(text).replace(/^\/(.*)\/[a-z]*$/s, '$1')).join('|')));
  if (extract.length > 0)
    notes.push(approximated(where, 'extract_text keeps the lines that contain a match, not the match alone'));
  if (ignore.length > 0) normalise['ignore'] = ignore;
  if (watch['sort_text_alphabetically'] === true) normalise['order'] = 'sort';
  const trigger = textsOf(watch['trigger_text']);
  if (trigger.length > 0)
    tell['appears'] =
      trigger.length === 1
        ? patternOf(trigger[0]!)
        : `/${trigger.map((text) => patternOf(text).replace(/^\/(.*)\/[a-z]*$/s, '$1')).join('|')}/i`;
  if (watch['filter_text_added'] !== false && watch['filter_text_removed'] === false) tell['only'] = 'additions';
  if (watch['filter_text_added'] === false && watch['filter_text_removed'] !== false) tell['only'] = 'removals';
  const absent = textsOf(watch['text_should_not_be_present']);
  if (absent.length > 0) {
    if (trigger.length === 0 && absent.length === 1) tell['disappears'] = patternOf(absent[0]!);
    notes.push(approximated(where, 'text_should_not_be_present: told when the words disappear'));
  }
  return {
    ...(Object.keys(normalise).length > 0 ? { normalise } : {}),
    ...(Object.keys(tell).length > 0 ? { tell } : {}),
  };
}

function leftOut(watch: Fields, where: string): Found[] {
  const notes: Found[] = [];
  const interval = Object.values(fieldsOf(watch['time_between_check'])).some((value) => Number(value) > 0);
  if (interval && watch['time_between_check_use_default'] !== true)
    notes.push(approximated(where, 'the fixed interval is not kept: looks are planned within the budget'));
  if (fieldsOf(watch['time_schedule_limit'])['enabled'] === true)
    notes.push(approximated(where, 'the weekly schedule is not kept: set importance by hour of the week instead'));
  if (textsOf(watch['notification_urls']).length > 0)
    notes.push(impossible(where, 'notifications: subscribe a channel to this page instead'));
  if (Array.isArray(watch['browser_steps']) && watch['browser_steps'].length > 0)
    notes.push(impossible(where, 'browser steps are not played'));
  if (typeof watch['webdriver_js_execute_code'] === 'string' && watch['webdriver_js_execute_code'] !== '')
    notes.push(impossible(where, 'scripts are not run in the page'));
  if (watch['processor'] !== undefined && watch['processor'] !== 'text_json_diff')
    notes.push(approximated(where, `the processor ${word(watch['processor'])} becomes a comparison of text`));
  if (typeof watch['proxy'] === 'string' && watch['proxy'] !== '')
    notes.push(approximated(where, 'a proxy is set for the daemon, not for a page'));
  return notes;
}

function readWatch(watch: Fields, id: string, tags: ReadonlyMap<string, string>): Found[] {
  const where = `watch ${id}`;
  const address = word(watch['url']).trim();
  if (/\{[{%]/.test(address)) return [impossible(where, `the address is a template: ${address}`)];
  const method = (word(watch['method']) || 'GET').toUpperCase();
  if (method !== 'GET') return [impossible(where, `the watch asks with ${method}; pages are asked for with GET`)];
  const notes = leftOut(watch, where);
  const source = /^source:/i.test(address);
  const filters = textsOf(watch['include_filters']);
  const select = source && filters.length === 0 ? 'whole' : selectOf(filters, where, notes);
  const options = optionsOf(watch, where, notes);
  const headers = Object.fromEntries(
    Object.entries(fieldsOf(watch['headers'])).map(([name, value]) => [name, String(value)]),
  );
  const named = textsOf(watch['tags']).map((tag) => tags.get(tag) ?? tag);
  const old = typeof watch['tag'] === 'string' ? watch['tag'].split(',').map((tag) => tag.trim()) : [];
  const labels = [...named, ...old].filter((tag) => tag !== '');
  const backend = word(watch['fetch_backend']);
  const title = typeof watch['title'] === 'string' && watch['title'].trim() !== '' ? watch['title'].trim() : undefined;
  const input = {
    url: address.replace(/^source:/i, ''),
    select,
    ...(title === undefined ? {} : { title }),
    ...(labels.length > 0 ? { tags: labels } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(/webdriver|playwright|browser/i.test(backend) ? { render: true } : {}),
    ...(watch['paused'] === true ? { paused: true } : {}),
    ...(Object.keys(options).length > 0 ? { options } : {}),
  };
  return [{ kind: 'page', where, input }, ...notes];
}

async function historyOf(zip: Zip, id: string, notes: Found[]): Promise<readonly PastVersion[]> {
  const index = zip.entries.get(`${id}/history.txt`);
  if (!index) return [];
  const lines = (await zip.read(index)).toString('utf8').split('\n');
  const listed = lines.flatMap((line) => {
    const comma = line.indexOf(',');
    const seconds = Number(line.slice(0, comma));
    const name = line
      .slice(comma + 1)
      .trim()
      .split('/')
      .at(-1)!;
    return comma > 0 && seconds > 0 && name !== '' ? [{ seconds, name }] : [];
  });
  const newest = listed.sort((a, b) => a.seconds - b.seconds).slice(-versionsMax);
  if (newest.length < listed.length)
    notes.push(approximated(`watch ${id}`, `of ${listed.length} snapshots the newest ${versionsMax} came over`));
  const versions: PastVersion[] = [];
  let bytes = 0;
  for (const { seconds, name } of newest.reverse()) {
    const bare = name.replace(/\.br$/, '');
    const entry = [name, `${bare}.br`, bare]
      .map((one) => zip.entries.get(`${id}/${one}`))
      .find((one) => one !== undefined);
    if (!entry || /\.(png|jpe?g|pdf|gif|webp)(\.br)?$/i.test(entry.name)) continue;
    const packed = await zip.read(entry);
    const plain = entry.name.endsWith('.br') ? unpack(packed, entry.name) : packed;
    bytes += plain.length;
    if (bytes > historyBytesMax) {
      notes.push(
        approximated(`watch ${id}`, `older snapshots are left out beyond ${historyBytesMax} bytes of history`),
      );
      break;
    }
    versions.push({ atMs: seconds * 1000, text: plain.toString('utf8'), format: 'text' });
  }
  return versions.reverse();
}

function unpack(packed: Buffer, name: string): Buffer {
  try {
    return brotliDecompressSync(packed, { maxOutputLength: snapshotBytesMax });
  } catch {
    throw new Unreadable(`${name} in the archive is damaged or unpacks to more than ${snapshotBytesMax} bytes`);
  }
}

export async function* readChangedetection(path: string): AsyncGenerator<readonly Found[]> {
  const zip = await openZip(path);
  try {
    const { watches, tags } = await contentsOf(zip);
    if (watches.size === 0)
      throw new Unreadable(
        'the archive holds no url-watches.json and no watch.json; a backup of changedetection.io is expected',
      );
    for (const name of zip.refused.slice(0, 10))
      yield [impossible('the archive', `the entry ${JSON.stringify(name)} points out of its folder and is not read`)];
    for (const [id, watch] of watches) {
      const found = readWatch(watch, id, tags);
      const page = found[0]!;
      const notes: Found[] = [];
      const versions = page.kind === 'page' ? await historyOf(zip, id, notes) : [];
      yield [page.kind === 'page' && versions.length > 0 ? { ...page, versions } : page, ...found.slice(1), ...notes];
    }
  } finally {
    await zip.close();
  }
}
