import { useMemo, useState } from 'preact/hooks';
import { DiffInline } from '../parts/diff-inline.tsx';
import { DiffSides } from '../parts/diff-sides.tsx';
import { lazy } from '../lazy.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { bytes, dateTime, harmless, many, number } from '../format.ts';
import { address, go } from '../route.ts';
import { ask, useAsk } from '../server.ts';

const Plot = lazy(async () => (await import('../parts/plot.tsx')).Plot);

interface Props {
  readonly id: string;
  readonly version: number;
  readonly query: URLSearchParams;
}

/** Any two versions against each other, or one of them whole. */
export function PageDifferences({ id, version, query }: Props) {
  const [way, setWay] = useState<'inline' | 'sides' | 'whole'>('inline');
  const list = useAsk(() => ask('GET /api/pages/{id}/versions', { path: { id } }), [id, version]);
  const versions = list.value?.versions ?? [];
  const known = (text: string | null): number | undefined =>
    versions.find((one) => String(one.number) === text)?.number;
  const to = known(query.get('to')) ?? versions.at(-1)?.number;
  const before = versions.filter((one) => to !== undefined && one.number < to).at(-1)?.number;
  const from = known(query.get('from')) ?? before;
  const choose = (next: { from?: number | undefined; to?: number | undefined }): void =>
    go(
      address(['pages', id, 'differences'], {
        ...(next.from === undefined ? {} : { from: String(next.from) }),
        ...(next.to === undefined ? {} : { to: String(next.to) }),
      }),
    );
  if (list.value && versions.length === 0)
    return <p class="soft">There is no copy yet; the first look that can read the page makes one.</p>;
  const label = (number: number): string => {
    const one = versions.find((other) => other.number === number)!;
    return `${number} · ${dateTime(one.at)} · ${bytes(one.bytes)}`;
  };
  const options = [...versions].reverse().map(({ number }) => (
    <option key={number} value={number}>
      {label(number)}
    </option>
  ));
  return (
    <div class="stack">
      <Trouble problem={list.problem} />
      {versions.some(({ format, bytes: size }) => format === 'number' || size <= 64) && (
        <Numbers id={id} version={version} />
      )}
      <div class="row end">
        {way !== 'whole' && (
          <label class="field">
            <span>From version</span>
            <select value={from ?? ''} onChange={(event) => choose({ from: Number(event.currentTarget.value), to })}>
              {from === undefined && <option value="">–</option>}
              {options}
            </select>
          </label>
        )}
        <label class="field">
          <span>{way === 'whole' ? 'Version' : 'To version'}</span>
          <select value={to ?? ''} onChange={(event) => choose({ to: Number(event.currentTarget.value) })}>
            {options}
          </select>
        </label>
        <fieldset class="row beside-fields">
          <legend class="hidden-text">Shown as</legend>
          {(['inline', 'sides', 'whole'] as const).map((name) => (
            <label key={name} class="choice small">
              <input type="radio" name="way" checked={way === name} onChange={() => setWay(name)} />
              {name === 'inline' ? 'inline' : name === 'sides' ? 'side by side' : 'whole version'}
            </label>
          ))}
        </fieldset>
        <span class="row">
          <button
            type="button"
            disabled={before === undefined}
            aria-label="Earlier change"
            onClick={() => choose({ to: before })}
          >
            ←
          </button>
          <button
            type="button"
            disabled={to === undefined || to === versions.at(-1)?.number}
            aria-label="Later change"
            onClick={() => choose({ to: versions.find((one) => one.number > to!)?.number })}
          >
            →
          </button>
        </span>
      </div>
      {to !== undefined && (way === 'whole' || from === undefined || from === to) ? (
        <Whole id={id} number={to} />
      ) : (
        to !== undefined && from !== undefined && <Difference id={id} from={from} to={to} sides={way === 'sides'} />
      )}
    </div>
  );
}

function Difference({
  id,
  from,
  to,
  sides,
}: {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly sides: boolean;
}) {
  const diff = useAsk(() => ask('GET /api/pages/{id}/diff', { path: { id }, query: { from, to } }), [id, from, to]);
  if (!diff.value) return <Trouble problem={diff.problem} />;
  const { difference } = diff.value;
  const plus = difference.charactersAdded;
  const minus = difference.charactersRemoved;
  return (
    <div class="stack">
      <p class="soft small">
        {many(difference.places, 'place')} · {many(plus, 'character')} added, {number(minus, 9)} removed
        {difference.number && ` · from ${difference.number.from} to ${difference.number.to}`}
      </p>
      {sides ? <DiffSides difference={difference} /> : <DiffInline difference={difference} />}
    </div>
  );
}

function Whole({ id, number }: { readonly id: string; readonly number: number }) {
  const text = useAsk(() => ask('GET /api/pages/{id}/versions/{number}', { path: { id, number } }), [id, number]);
  return text.value === undefined ? (
    <Trouble problem={text.problem} />
  ) : (
    <pre class="diff" dir="auto">
      {harmless(text.value)}
    </pre>
  );
}

function Numbers({ id, version }: { readonly id: string; readonly version: number }) {
  const numbers = useAsk(() => ask('GET /api/pages/{id}/numbers', { path: { id } }), [id, version]);
  const points = numbers.value?.numbers ?? [];
  const x = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [numbers.value]);
  const lines = useMemo(
    () => [{ label: 'value', colour: '--accent', values: points.map(({ value }) => value), points: true }],
    [numbers.value],
  );
  if (points.length < 2) return null;
  return <Plot x={x} lines={lines} time label="The number over time" xLabel="" yLabel="" height={180} />;
}
