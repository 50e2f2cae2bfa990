import { useMemo } from 'preact/hooks';
import { Figures } from '../parts/figures.tsx';
import { Gauge } from '../parts/gauge.tsx';
import { Plot } from '../parts/plot.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { hours, number, percent } from '../format.ts';
import { type Answer, ask, useAsk, useNow } from '../server.ts';

/** The coming looks, what they cost and what they are worth. */
export function Plan() {
  const plan = useAsk(() => ask('GET /api/plan', { query: { limit: 600 } }), [], 10_000);
  const budget = useAsk(() => ask('GET /api/budget'), [], 30_000);
  const status = useAsk(() => ask('GET /api/status'), [], 10_000);
  const now = useNow();
  return (
    <>
      <div class="title-row">
        <h1>Plan</h1>
        <span class="soft">{plan.value ? `policy ${plan.value.policy}` : ''}</span>
      </div>
      <div class="stack wide-gap">
        <Trouble problem={plan.problem ?? budget.problem} />
        {plan.value && <Numbers plan={plan.value} budget={budget.value} used={status.value?.loop?.sentLastHour} />}
        {budget.value && <Curve budget={budget.value} />}
        {plan.value && (
          <section class="section">
            <h2>The coming looks, by site</h2>
            <Timeline probes={plan.value.probes} now={now} />
          </section>
        )}
        {plan.value && plan.value.dearSites.length > 0 && (
          <section class="section">
            <h2>Sites where politeness is the limit</h2>
            <p class="soft small">
              A look there would be worth more than elsewhere, if the site could be asked more often.
            </p>
            <table>
              <tbody>
                {plan.value.dearSites.slice(0, 10).map(({ site, priceHours }) => (
                  <tr key={site}>
                    <td>{site}</td>
                    <td class="number">{hours(priceHours)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
      </div>
    </>
  );
}

type BudgetPoint = Answer<'GET /api/budget'>['now'];

interface NumbersProps {
  readonly plan: Answer<'GET /api/plan'>;
  readonly budget: Answer<'GET /api/budget'> | undefined;
  readonly used: number | undefined;
}

function Numbers({ plan, budget, used }: NumbersProps) {
  const sooner = budget?.oneMore.soonerMinutes;
  return (
    <Figures
      figures={[
        {
          name: 'Budget used',
          value: used === undefined ? '–' : `${number(used, 9)} of ${number(plan.budgetPerHour, 4)}`,
          note: (
            <>
              <Gauge part={used ?? 0} whole={plan.budgetPerHour} label="Requests in the last hour" calm />
              requests in the last hour; {number(plan.pages, 9)} {plan.pages === 1 ? 'page shares' : 'pages share'} it
            </>
          ),
        },
        {
          name: 'A change waits',
          value: hours(plan.meanDelayHours),
          note: 'on average until it is seen, by this plan',
        },
        {
          name: 'Proven best',
          value: hours(plan.meanDelayHoursBound),
          note:
            plan.gap === null || plan.meanDelayHoursBound === null
              ? 'nothing is known to change yet'
              : `no plan waits less; ours is within ${plan.gap < 1e-4 ? '0.01 %' : percent(plan.gap, 2)} of it`,
        },
        {
          name: 'Price of a look',
          value: hours(plan.priceHours),
          note: 'of waiting ended by the least useful look that is made',
        },
        {
          name: 'One more request an hour',
          value: sooner === null || sooner === undefined ? '–' : `${hours(sooner / 60)} sooner`,
          note: 'is when the average change would be seen',
        },
      ]}
    />
  );
}

const waitUnits = [
  { name: 'hours', inHours: 1 },
  { name: 'minutes', inHours: 1 / 60 },
  { name: 'seconds', inHours: 1 / 3600 },
] as const;

function Curve({ budget }: { readonly budget: Answer<'GET /api/budget'> }) {
  const points = useMemo(
    () =>
      [...budget.curve, budget.now]
        .filter((point) => point.probesPerHour > 0 && point.meanDelayHours !== null && point.meanDelayHours > 0)
        .sort((a, b) => a.probesPerHour - b.probesPerHour),
    [budget],
  );
  const x = useMemo(() => points.map((point) => point.probesPerHour), [points]);
  // Minutes where a change waits for minutes: a thousandth of an hour says nothing.
  const unit = waitUnits.find(({ inHours }) => (budget.now.meanDelayHours ?? 1) >= inHours) ?? waitUnits[2];
  const wait = (point: BudgetPoint): number => point.meanDelayHours! / unit.inHours;
  const lines = useMemo(
    () => [
      { label: 'mean wait of a change', colour: '--accent', values: points.map(wait) },
      {
        label: 'you are here',
        colour: '--removed',
        points: true,
        values: points.map((point) => (point.probesPerHour === budget.now.probesPerHour ? wait(point) : null)),
      },
    ],
    [points],
  );
  if (points.length < 2) return null;
  return (
    <section class="section">
      <h2>What another budget would buy</h2>
      <Plot
        x={x}
        lines={lines}
        logX
        logY
        label="Mean wait of a change against requests an hour"
        xLabel="requests an hour"
        yLabel={unit.name}
      />
    </section>
  );
}
