import { useEffect, useRef } from 'preact/hooks';
import { Foreign } from '../parts/foreign.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, bare, harmless } from '../format.ts';
import { address, replace } from '../route.ts';
import { ask, useAsk, useNow } from '../server.ts';

/** Words in the copies themselves. */
export function Search({ query }: { readonly query: URLSearchParams }) {
  const q = query.get('q') ?? '';
  const past = query.get('past') === 'true';
  const now = useNow();
  const field = useRef<HTMLInputElement>(null);
  // Who comes here with nothing to look for yet, comes to type.
  useEffect(() => {
    if (field.current?.value === '') field.current.focus();
  }, []);
  const hits = useAsk(
    async () => (q.trim() === '' ? { hits: [] } : ask('GET /api/search', { query: { q, past, limit: 50 } })),
    [q, past],
  );
  const set = (name: string, value: string): void =>
    replace(address(['search'], { ...Object.fromEntries(query), [name]: value }));
  return (
    <>
      <div class="title-row">
        <h1>Search</h1>
      </div>
      <div class="stack">
        <div class="row" role="search">
          <input
            ref={field}
            data-filter
            class="grow"
            type="search"
            aria-label={'Words, "phrases", prefixes*'}
            placeholder={'Words, "phrases", prefixes*'}
            value={q}
            onInput={(event) => set('q', event.currentTarget.value)}
          />
          <label class="choice small">
            <input
              type="checkbox"
              checked={past}
              onChange={(event) => set('past', event.currentTarget.checked ? 'true' : '')}
            />
            past versions too
          </label>
        </div>
        <Trouble problem={hits.problem} />
        {q !== '' && hits.value?.hits.length === 0 && <p class="soft">No copy has these words.</p>}
        <ol class="hits">
          {hits.value?.hits.map((hit) => (
            <li key={`${hit.pageId} ${hit.version}`}>
              <a href={address(['pages', hit.pageId], { to: String(hit.version) })}>
                <Foreign text={hit.title ?? bare(hit.url)} />
              </a>{' '}
              <span class="soft small">
                {hit.site} · version {hit.version}, {ago(hit.at, now)}
              </span>
              <p class="small">
                <bdi>
                  {hit.snippet.map((part, i) =>
                    part.hit ? <mark key={i}>{harmless(part.text)}</mark> : <span key={i}>{harmless(part.text)}</span>,
                  )}
                </bdi>
              </p>
            </li>
          ))}
        </ol>
      </div>
    </>
  );
}
