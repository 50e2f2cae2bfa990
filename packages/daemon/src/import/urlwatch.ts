/** urls.yaml of urlwatch and jobs.yaml of webchanges: one job a document. */
import { parseAllDocuments } from 'yaml';
import { word } from './expressions.ts';
import { approximated, type Found, impossible } from './found.ts';
import { type Pieces, Unreadable, wholeText } from './source.ts';
import { translateFilters } from './urlwatch-filters.ts';

/** A hundred thousand jobs with filters. YAML is read whole, and its tree takes some twenty times the text. */
const charactersMax = 32 * 2 ** 20;
/** Aliases may not blow a small file up. */
const aliasMax = 100;

type Job = Readonly<Record<string, unknown>>;

/** Directives that say how a request is made or a report looks, where we have our own way for all pages. */
const ownWay = new Map([
  ['timeout', 'time limits hold for all pages'],
  ['http_proxy', 'a proxy is set for the daemon'],
  ['https_proxy', 'a proxy is set for the daemon'],
  ['proxy', 'a proxy is set for the daemon'],
  ['max_tries', 'failed looks come again by themselves'],
  ['retries', 'failed looks come again by themselves'],
  ['diff_tool', 'differences are our own'],
  ['differ', 'differences are our own'],
  ['diff_filter', 'differences are our own'],
  ['compared_versions', 'each look is compared with the last version'],
  ['ssl_no_verify', 'certificates are always checked'],
  ['no_conditional_request', 'the server is always asked whether the page changed'],
  ['monospace', 'reports have their own form'],
  ['markdown_padded_tables', 'reports have their own form'],
  ['wait_until', 'rendering waits by itself'],
  ['wait_for', 'rendering waits by itself'],
  ['wait_for_selector', 'rendering waits by itself'],
  ['user_visible_url', 'reports show the address that is watched'],
]);
/** Directives that change nothing here, or are read below. */
const known = new Set([
  'url',
  'navigate',
  'name',
  'note',
  'tags',
  'filter',
  'filters',
  'headers',
  'cookies',
  'kind',
  'enabled',
  'use_browser',
  'additions_only',
  'added_only',
  'deletions_only',
  'deleted_only',
  'method',
  'data',
  'ignore_connection_errors',
  'ignore_timeout_errors',
  'ignore_http_error_codes',
  'ignore_too_many_redirects',
  'ignore_cached',
  'ignore_dh_key_too_small',
  'encoding',
  'index_number',
  'guid',
  'block_elements',
  'http_client',
  'is_markdown',
  'treat_new_as_changed',
  'no_redirects',
  'user_agent',
]);

function record(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, String(inner)]));
}

function headersOf(job: Job): Record<string, string> | undefined {
  const cookies = Object.entries(record(job['cookies'])).map(([name, value]) => `${name}=${value}`);
  const headers = { ...record(job['headers']), ...(cookies.length > 0 ? { Cookie: cookies.join('; ') } : {}) };
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function readJob(job: Job, where: string): Found[] {
  const url = job['url'] ?? job['navigate'];
  if (job['command'] !== undefined || job['shell'] !== undefined || job['shelled'] !== undefined)
    return [impossible(where, 'a job that runs a command is not taken over: pages are watched, programs are not run')];
  if (typeof url !== 'string') return [impossible(where, 'the job names no url')];
  const method = (word(job['method']) || (job['data'] === undefined ? 'GET' : 'POST')).toUpperCase();
  if (method !== 'GET') return [impossible(where, `the job asks with ${method}; pages are asked for with GET`)];
  const filters = translateFilters(job['filters'] ?? job['filter'], where);
  const { options } = filters;
  const only =
    (job['additions_only'] ?? job['added_only'])
      ? 'additions'
      : (job['deletions_only'] ?? job['deleted_only'])
        ? 'removals'
        : undefined;
  if (only) (options['tell'] ??= {})['only'] = only;
  const notes: Found[] = [...filters.notes];
  for (const name of Object.keys(job)) {
    const reason = ownWay.get(name);
    if (reason !== undefined) notes.push(approximated(where, `${name} is left out: ${reason}`));
    else if (!known.has(name)) notes.push(impossible(where, `directive ${name} has nothing that corresponds to it`));
  }
  const render = job['navigate'] !== undefined || job['use_browser'] === true;
  const headers = headersOf(job);
  const tags = typeof job['tags'] === 'string' ? job['tags'].split(',').map((tag) => tag.trim()) : job['tags'];
  const input = {
    url,
    // urlwatch compares the source unless a filter says otherwise.
    select: filters.select ?? 'whole',
    ...(typeof job['name'] === 'string' ? { title: job['name'] } : {}),
    ...(Array.isArray(tags) && tags.length > 0 ? { tags: tags.map(String).filter((tag) => tag !== '') } : {}),
    ...(headers ? { headers } : {}),
    ...(render ? { render: true } : {}),
    ...(job['enabled'] === false ? { paused: true } : {}),
    ...(Object.keys(options).length > 0 ? { options } : {}),
  };
  return [{ kind: 'page', where, input }, ...notes];
}

export async function* readUrlwatch(pieces: Pieces): AsyncGenerator<readonly Found[]> {
  const text = await wholeText(pieces, charactersMax);
  const documents = parseAllDocuments(text, { prettyErrors: true, logLevel: 'error' });
  if (!Array.isArray(documents)) return;
  let number = 0;
  for (const document of documents) {
    number++;
    const wrong = document.errors[0];
    if (wrong) throw new Unreadable(`job ${number} is not YAML (${wrong.message.split('\n')[0]!.replace(/:$/, '')})`);
    let job: unknown;
    try {
      job = document.toJS({ maxAliasCount: aliasMax });
    } catch (error) {
      throw new Unreadable(`job ${number}: ${(error as Error).message}`);
    }
    if (job === null || job === undefined) continue;
    const where = `job ${number}`;
    if (typeof job !== 'object' || Array.isArray(job)) yield [impossible(where, 'the document is no job')];
    else yield readJob(job as Job, where);
  }
}
