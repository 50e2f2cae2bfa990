import { useState } from 'preact/hooks';
import { BulkBar } from './bulk-bar.tsx';
import { PageRow } from './page-row.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { FirstSteps } from '../parts/first-steps.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { harmless, number } from '../format.ts';
import { address, go, replace } from '../route.ts';
import { type Page, ask, useAsk, useNow } from '../server.ts';
import { useRows } from '../use-rows.ts';

const orders = [
  ['changed', 'last changed'],
  ['next', 'next look'],
  ['current', 'least current'],
  ['rate', 'fastest changing'],
  ['looked', 'last looked at'],
  ['title', 'title'],
  ['added', 'order added'],
  ['trouble', 'trouble first'],
] as const;
const statuses = ['present', 'new', 'gone', 'unreadable', 'paused', 'trouble'] as const;
/** How often what is in view is asked for again. */
const againEveryMs = 5_000;

interface Props {
  readonly query: URLSearchParams;
  readonly watched: number | undefined;
}

/** Everything that is watched, as a list one can go through, filter, sort and edit in bulk. */
export function Pages({ query, watched }: Props) {
  const filter = {
    text: query.get('text') ?? undefined,
    tag: query.get('tag') ?? undefined,
    site: query.get('site') ?? undefined,
    status: statuses.find((name) => name === query.get('status')),
  };
  const order = orders.find(([name]) => name === query.get('order'))?.[0] ?? 'changed';
  const words = JSON.stringify([filter, order]);
  const now = useNow();
  const first = useAsk(
    () => ask('GET /api/pages', { query: { ...filter, order, skip: 0, limit: 1 } }),
    [words],
    againEveryMs,
  );
  const tags = useAsk(() => ask('GET /api/tags'), []);
  const [selected, setSelected] = useState<ReadonlyMap<string, Page>>(new Map());
  const [inView, setInView] = useState<ReadonlyMap<number, Page>>(new Map());
  const [edits, setEdits] = useState(0);
  const total = first.value?.total ?? 0;
  const load = async (skip: number, limit: number): Promise<readonly Page[]> => {
    const { pages } = await ask('GET /api/pages', { query: { ...filter, order, skip, limit, activity: true } });
    setInView((known) => new Map([...known, ...pages.map((page, i) => [skip + i, page] as const)]));
    return pages;
  };
  const toggle = (page: Page): void =>
    setSelected((known) => {
      const next = new Map(known);
      if (!next.delete(page.id)) next.set(page.id, page);
      return next;
    });
  const [chosen] = useRows(total, {
    open: (i) => inView.get(i) && go(address(['pages', inView.get(i)!.id])),
    mark: (i) => inView.get(i) && toggle(inView.get(i)!),
  });
  const set = (name: string, value: string): void =>
    replace(address(['pages'], { ...Object.fromEntries(query), [name]: value }));
  if (watched === 0)
    return (
      <>
        <div class="title-row">
          <h1>Pages</h1>
        </div>
        <FirstSteps />
      </>
    );
  return (
    <>
      <div class="title-row">
        <h1>
          Pages <span class="soft small">{number(total, 9)}</span>
        </h1>
        <a href="#/add">
          <button type="button" class="main" tabIndex={-1}>
            Add pages
          </button>
        </a>
      </div>
      <div class="stack">
        <div class="row" role="search">
          <input
            data-filter
            class="grow"
            type="search"
            aria-label="Filter by address or title"
            placeholder="Filter by address or title"
            value={filter.text ?? ''}
            onInput={(event) => set('text', event.currentTarget.value)}
          />
          <select aria-label="Tag" value={filter.tag ?? ''} onChange={(event) => set('tag', event.currentTarget.value)}>
            <option value="">All tags</option>
            {(tags.value?.tags ?? []).map(({ tag, pages }) => (
              <option key={tag} value={tag}>
                {harmless(tag).slice(0, 40)} ({pages})
              </option>
            ))}
          </select>
          <select
            aria-label="State"
            value={filter.status ?? ''}
            onChange={(event) => set('status', event.currentTarget.value)}
          >
            <option value="">All states</option>
            {statuses.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
          <select aria-label="Order" value={order} onChange={(event) => set('order', event.currentTarget.value)}>
            {orders.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
          {filter.site !== undefined && <FilterChip name={filter.site} onRemove={() => set('site', '')} />}
          {filter.text !== undefined && <a href={address(['search'], { q: filter.text })}>search in the copies</a>}
        </div>
        <Trouble problem={first.problem} />
        <BulkBar
          selected={[...selected.values()]}
          total={total}
          filter={filter}
          onDone={() => {
            setSelected(new Map());
            setEdits((n) => n + 1);
            first.reload();
          }}
        />
        <div>
          <div class="page-row head" aria-hidden="true">
            <span />
            <span>Page</span>
            <span class="wide">Last looks</span>
            <span>Current</span>
            <span class="wide">Looked at</span>
            <span class="wide">Next look</span>
            <span class="wide">Changes</span>
          </div>
          {first.value && total === 0 ? (
            <p class="soft empty">No page fits the filter.</p>
          ) : (
            <VirtualList<Page>
              total={total}
              label="Pages"
              load={load}
              version={`${words} ${edits} ${Math.floor(Date.now() / againEveryMs)}`}
              chosen={chosen}
              row={(page, i, top) => (
                <PageRow
                  key={i}
                  page={page}
                  top={top}
                  now={now}
                  chosen={i === chosen}
                  selected={page !== undefined && selected.has(page.id)}
                  onSelect={toggle}
                />
              )}
            />
          )}
        </div>
      </div>
    </>
  );
}
