import { useMemo } from 'preact/hooks';
import { Figures } from '../parts/figures.tsx';
import { Plot } from '../parts/plot.tsx';
import { RateScatter } from '../parts/rate-scatter.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { type DemoReport, type DelayRow, askDemo, paceToTell, waitsFor } from '../demo.ts';
import { hours, number } from '../format.ts';
import { useAsk } from '../server.ts';

/** Every two seconds: half an hour to an hour of the demonstration's own time. */
const everyMs = 2_000;

/** The demonstration knows the truth: what was learned beside it, and how long changes wait, here and at best. */
export function Demo() {
  const report = useAsk(askDemo, [], everyMs);
  const demo = report.value;
  return (
    <>
      <div class="title-row">
        <h1>Demonstration</h1>
        <span class="soft">
          {demo
            ? `day ${demo.virtualDays.toFixed(1)} · ${number(demo.pages)} pages on ${number(demo.sites)} sites · ${number(demo.budgetPerHour)} looks an hour · a second is ${number(demo.speed / 60)} minutes`
            : ''}
        </span>
      </div>
      <div class="stack wide-gap">
        <Trouble problem={report.problem} />
        {demo && demo.virtualDays > 0.1 && demo.pace < paceToTell && (
          <p class="notice" role="status">
            This machine is busy: the demonstration runs at {number(demo.pace * 100, 0)} % of its speed, so that no look
            is lost. What it compares stays fair.
          </p>
        )}
        {demo && <Numbers demo={demo} />}
        {demo && <Delays demo={demo} />}
        {demo && (
          <section class="section">
            <h2>Learned and true</h2>
            <p class="soft small">
              Each dot is a page: how often it changes, and how often it is believed to change. On the line both agree.
            </p>
            <RateScatter rates={demo.rates} />
            <Kinds demo={demo} />
          </section>
        )}
      </div>
    </>
  );
}

function against({ ours, uniform }: DelayRow): string {
  if (ours === null || uniform === null || uniform === 0) return '';
  const share = ours / uniform;
  const percent = Math.round(Math.abs(1 - share) * 100);
  return percent === 0 ? 'as long as uniform' : `${number(percent)} % ${share < 1 ? 'sooner' : 'later'} than uniform`;
}

function Numbers({ demo }: { readonly demo: DemoReport }) {
  const { lastDay } = demo.delayHours;
  const early = waitsFor(demo);
  return (
    <Figures
      figures={[
        { name: 'A change waits', value: hours(lastDay.ours), note: against(lastDay) || 'so far' },
        { name: 'Looks at equal distances', value: hours(lastDay.uniform), note: early ?? 'same pages, same budget' },
        { name: 'Best plan made ahead', value: hours(lastDay.bound), note: early ?? 'by someone who knows every law' },
        {
          name: 'Rates learned',
          value: demo.medianFactor === null ? '–' : `×${demo.medianFactor.toFixed(2)}`,
          note: 'half of the pages are within this factor of the truth',
        },
        {
          name: 'Unseen now',
          value: number(demo.changes.unseen),
          note: `of ${number(demo.changes.happened)} changes that happened`,
        },
      ]}
    />
  );
}

function Delays({ demo }: { readonly demo: DemoReport }) {
  const x = useMemo(() => demo.series.map(({ at }) => Date.parse(at) / 1000), [demo]);
  const lines = useMemo(
    () => [
      { label: `${demo.policy} (ours)`, colour: '--accent', values: demo.series.map(({ ours }) => ours) },
      { label: 'equal distances', colour: '--removed', values: demo.series.map(({ uniform }) => uniform) },
      { label: 'bound', colour: '--soft', dashed: true, values: demo.series.map(({ bound }) => bound) },
    ],
    [demo],
  );
  if (x.length < 2) return <p class="soft">The first hours are being watched…</p>;
  return (
    <section class="section">
      <h2>How long a change waits, over the day before</h2>
      <Plot
        x={x}
        lines={lines}
        time
        label="Mean wait of a change: ours, looks at equal distances, and the bound"
        xLabel="time of the demonstration"
        yLabel="hours"
      />
    </section>
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function Kinds({ demo }: { readonly demo: DemoReport }) {
  const kinds = [...new Set(demo.rates.map(({ kind }) => kind))];
  return (
    <table>
      <thead>
        <tr>
          <th>Kind of site</th>
          <th class="number">Pages</th>
          <th class="number">Changes a day, true</th>
          <th class="number">Learned</th>
        </tr>
      </thead>
      <tbody>
        {kinds.map((kind) => {
          const rates = demo.rates.filter((rate) => rate.kind === kind);
          return (
            <tr key={kind}>
              <td>{kind}</td>
              <td class="number">{rates.length}</td>
              <td class="number">{number(median(rates.map((rate) => rate.trueRatePerDay)), 2)}</td>
              <td class="number">{number(median(rates.map((rate) => rate.learnedRatePerDay ?? 0)), 2)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
