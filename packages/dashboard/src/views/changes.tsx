import { useEffect, useRef, useState } from 'preact/hooks';
import { ChangeRow } from './change-row.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { FirstSteps } from '../parts/first-steps.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { dayOf, number } from '../format.ts';
import { address, go, replace } from '../route.ts';
import { type Change, Problem, ask, useNow, useStream } from '../server.ts';
import { useRows } from '../use-rows.ts';

const kinds = ['changed', 'gone', 'returned', 'moved', 'discovered', 'trouble'] as const;
const partSize = 40;

interface River {
  readonly changes: readonly Change[];
  readonly next: string;
  readonly more: boolean;
  readonly last: number;
  readonly unseen: number;
}

function filterOf(query: URLSearchParams) {
  const kind = kinds.find((name) => name === query.get('kind'));
  return {
    text: query.get('text') ?? undefined,
    tag: query.get('tag') ?? undefined,
    site: query.get('site') ?? undefined,
    kind,
    unseen: query.get('unseen') === 'true' ? true : undefined,
  };
}

interface Props {
  readonly query: URLSearchParams;
  readonly watched: number | undefined;
}

/** Everything that changed, newest first, as it comes. */
export function Changes({ query, watched }: Props) {
  const words = query.toString();
  const filter = filterOf(query);
  const [river, setRiver] = useState<River>();
  const [waiting, setWaiting] = useState(0);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState<Problem>();
  const now = useNow();
  const busy = useRef(false);

  const load = async (before?: string): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    try {
      const part = await ask('GET /api/changes', { query: { ...filter, order: 'newest', limit: partSize, before } });
      setRiver((known) =>
        before !== undefined && known ? { ...part, changes: [...known.changes, ...part.changes] } : part,
      );
      if (before === undefined) setWaiting(0);
      setProblem(undefined);
    } catch (error) {
      setProblem(error as Problem);
    } finally {
      busy.current = false;
    }
  };
  useEffect(() => void load(), [words]);

  const plain = words === '';
  useStream((change) => {
    if (!plain) {
      setWaiting((n) => n + 1);
      return;
    }
    setFresh((known) => new Set([...known, change.cursor].slice(-50)));
    setRiver((known) => {
      if (!known || known.changes.some((other) => other.cursor === change.cursor)) return known;
      const changes = [{ ...change, seen: false }, ...known.changes];
      return { ...known, changes, last: Number(change.cursor), unseen: known.unseen + 1 };
    });
  });

  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!end.current || !river?.more) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) void load(river.next);
      },
      { rootMargin: '600px' },
    );
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [river?.next, river?.more]);

  const mark = async (changes: readonly Change[], seen: boolean): Promise<void> => {
    const cursors = changes.map(({ cursor }) => cursor);
    await ask('POST /api/changes/seen', { body: { cursors, seen } });
    setRiver(
      (known) =>
        known && {
          ...known,
          unseen: Math.max(0, known.unseen + (seen ? -changes.length : changes.length)),
          changes: known.changes.map((change) => (cursors.includes(change.cursor) ? { ...change, seen } : change)),
        },
    );
  };
  const markAll = async (): Promise<void> => {
    if (!river) return;
    await ask('POST /api/changes/seen', { body: { upTo: String(river.last), seen: true } });
    await load();
  };

  const changes = river?.changes ?? [];
  const [chosen] = useRows(changes.length, {
    open: (i) => go(address(['pages', changes[i]!.pageId])),
    mark: (i) => void mark([changes[i]!], !changes[i]!.seen),
  });
  useEffect(() => document.getElementById(`change-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const set = (name: string, value: string): void =>
    replace(address(['changes'], { ...Object.fromEntries(query), [name]: value }));
  return (
    <>
      <div class="title-row">
        <h1>Changes</h1>
        <div class="row">
          <span class="soft">{river ? `${number(river.unseen)} unseen` : ''}</span>
          <button type="button" disabled={!river || river.unseen === 0} onClick={() => void markAll()}>
            Mark all as seen
          </button>
        </div>
      </div>
      {watched === 0 && changes.length === 0 ? (
        <FirstSteps />
      ) : (
        <>
          <div class="row" role="search">
            <input
              data-filter
              class="grow"
              type="search"
              aria-label="Filter by words in title, address or summary"
              placeholder="Filter"
              value={filter.text ?? ''}
              onInput={(event) => set('text', event.currentTarget.value)}
            />
            <select
              aria-label="Kind of change"
              value={filter.kind ?? ''}
              onChange={(event) => set('kind', event.currentTarget.value)}
            >
              <option value="">All kinds</option>
              {kinds.map((kind) => (
                <option key={kind}>{kind}</option>
              ))}
            </select>
            <label class="choice small">
              <input
                type="checkbox"
                checked={filter.unseen ?? false}
                onChange={(event) => set('unseen', event.currentTarget.checked ? 'true' : '')}
              />
              unseen only
            </label>
            {filter.tag !== undefined && <FilterChip name={filter.tag} onRemove={() => set('tag', '')} />}
            {filter.site !== undefined && <FilterChip name={filter.site} onRemove={() => set('site', '')} />}
            {waiting > 0 && (
              <button type="button" class="main" onClick={() => void load()}>
                {waiting} new
              </button>
            )}
          </div>
          <Trouble problem={problem} />
          {river && changes.length === 0 && !river.more && (
            <p class="soft empty">
              {plain
                ? 'No change was seen yet. Pages are looked at as the budget allows; their first look only makes the copy to compare with.'
                : 'No change fits the filter.'}
            </p>
          )}
          <Days
            changes={changes}
            chosen={chosen}
            fresh={fresh}
            now={now}
            onMark={(change) => void mark([change], !change.seen)}
          />
          <div ref={end}>{river?.more && <p class="soft">Looking further back…</p>}</div>
        </>
      )}
    </>
  );
}

interface DaysProps {
  readonly changes: readonly Change[];
  readonly chosen: number;
  readonly fresh: ReadonlySet<string>;
  readonly now: number;
  readonly onMark: (change: Change) => void;
}

function Days({ changes, chosen, fresh, now, onMark }: DaysProps) {
  const days: { day: string; rows: { change: Change; index: number }[] }[] = [];
  changes.forEach((change, index) => {
    const day = dayOf(change.at);
    if (days.at(-1)?.day !== day) days.push({ day, rows: [] });
    days.at(-1)!.rows.push({ change, index });
  });
  return (
    <div class="river">
      {days.map(({ day, rows }) => (
        <section key={day} aria-label={day}>
          <h2>{day}</h2>
          <ol>
            {rows.map(({ change, index }) => (
              <ChangeRow
                key={change.cursor}
                change={change}
                index={index}
                chosen={index === chosen}
                fresh={fresh.has(change.cursor)}
                now={now}
                onMark={onMark}
              />
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}
