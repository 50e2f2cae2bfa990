import { useMemo, useState } from 'preact/hooks';
import { Plot } from '../parts/plot.tsx';
import { ago, hours, number, percent } from '../format.ts';
import type { Answer } from '../server.ts';

type Run = Answer<'GET /api/lab/{id}'>;
type Result = NonNullable<Run['result']>;

const colours = Array.from({ length: 8 }, (_, i) => `--plot-${i + 1}`);
const colourOf = (policies: readonly string[], policy: string): string =>
  colours[policies.indexOf(policy) % colours.length]!;

/** One run: how it goes on, then who found changes soonest on which budget. */
export function LabResult({ run, now }: { readonly run: Run; readonly now: number }) {
  return (
    <section class="section">
      <h2>
        {run.trace ?? 'Your own history'}{' '}
        <span class="soft small">
          {run.budgets.join(', ')} looks a page and day · {ago(run.startedAt, now)}
        </span>
      </h2>
      {run.state === 'running' && (
        <label class="row small">
          <progress value={run.progress} max={1} /> {percent(run.progress)}
        </label>
      )}
      {run.state === 'failed' && <p class="notice">{run.sentence}</p>}
      {run.result && <Compared run={run} result={run.result} />}
    </section>
  );
}

function Compared({ run, result }: { readonly run: Run; readonly result: Result }) {
  const [budget, setBudget] = useState(run.budgets[Math.floor((run.budgets.length - 1) / 2)]!);
  const rows = result.results.filter(({ looksPerPageDay }) => looksPerPageDay === budget);
  return (
    <>
      <p class="small soft">
        {number(result.pages, 9)} pages, {number(result.changes, 9)} changes in the {number(result.testDays, 2)} days
        that were scored, {number(rows[0]?.allowed, 9)} looks for each policy
        {run.trace === null &&
          '. Changes are known as of the look that found them, so the schedule that really ran has delays near 0 here: this compares policies with each other, not with what really happened.'}
      </p>
      {run.budgets.length > 1 && (
        <div class="tabs" role="group" aria-label="Budget">
          {run.budgets.map((looks) => (
            <button
              key={looks}
              type="button"
              class="plain"
              aria-pressed={looks === budget}
              onClick={() => setBudget(looks)}
            >
              {looks} a day
            </button>
          ))}
        </div>
      )}
      <Table rows={rows} />
      <div class="columns">
        <Quantiles run={run} rows={rows} />
        {run.budgets.length > 1 && <Budgets run={run} result={result} />}
      </div>
    </>
  );
}

function Table({ rows }: { readonly rows: Result['results'] }) {
  const uniform = rows.find(({ policy }) => policy === 'uniform')?.meanDelayHours;
  const most = Math.max(...rows.map(({ meanDelayHours }) => meanDelayHours));
  return (
    <div class="scrolls">
      <table>
        <thead>
          <tr>
            <th scope="col">Policy</th>
            <th scope="col" class="number">
              A change waits
            </th>
            <th scope="col" class="bars" aria-hidden="true" />
            <th scope="col" class="number">
              Against uniform
            </th>
            <th scope="col" class="number">
              Fresh
            </th>
            <th scope="col" class="number">
              Looks that found
            </th>
          </tr>
        </thead>
        <tbody>
          {[...rows]
            .sort((a, b) => a.meanDelayHours - b.meanDelayHours)
            .map((row) => (
              <tr key={row.policy}>
                <td>{row.policy === 'revisit' ? <strong>revisit</strong> : row.policy}</td>
                <td class="number">{hours(row.meanDelayHours)}</td>
                <td class="bars" aria-hidden="true">
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" width="100%" height="8">
                    <rect
                      width={(100 * row.meanDelayHours) / (most || 1)}
                      height="8"
                      fill={row.policy === 'revisit' ? 'var(--accent)' : 'var(--bar)'}
                    />
                  </svg>
                </td>
                <td class="number">{uniform ? `× ${number(row.meanDelayHours / uniform, 2)}` : '–'}</td>
                <td class="number">{percent(row.freshness, 1)}</td>
                <td class="number">{percent(row.hitRate, 1)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

const shares = Array.from({ length: 19 }, (_, i) => (i + 1) * 5);

function Quantiles({ run, rows }: { readonly run: Run; readonly rows: Result['results'] }) {
  const lines = useMemo(
    () =>
      rows.map(({ policy, delayQuantiles }) => ({
        label: policy,
        colour: colourOf(run.policies, policy),
        values: delayQuantiles.map((value) => Math.max(value, 0)),
      })),
    [rows.map(({ policy, looksPerPageDay }) => `${policy} ${looksPerPageDay}`).join()],
  );
  return (
    <Plot
      x={shares}
      lines={lines}
      label="Hours within which a share of the changes was found"
      xLabel="percent of the changes found"
      yLabel="within hours"
    />
  );
}

function Budgets({ run, result }: { readonly run: Run; readonly result: Result }) {
  const x = useMemo(() => [...run.budgets], [run.id]);
  const lines = useMemo(
    () =>
      run.policies.map((policy) => ({
        label: policy,
        colour: colourOf(run.policies, policy),
        points: true,
        values: x.map(
          (looks) =>
            result.results.find((row) => row.policy === policy && row.looksPerPageDay === looks)?.meanDelayHours ??
            null,
        ),
      })),
    [run.id],
  );
  return (
    <Plot
      x={x}
      lines={lines}
      logX
      logY
      label="Mean wait of a change against looks a page and day"
      xLabel="looks a page and day"
      yLabel="hours a change waits"
    />
  );
}
