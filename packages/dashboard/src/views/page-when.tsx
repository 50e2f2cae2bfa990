import { WeekHeatmap } from '../parts/week-heatmap.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { dateTime, number, percent, rate, until } from '../format.ts';
import { type Page, ask, useAsk } from '../server.ts';

interface Props {
  readonly page: Page;
  readonly now: number;
}

/** When in the week it changes, and why it is looked at next when it is. */
export function PageWhen({ page, now }: Props) {
  const week = useAsk(() => ask('GET /api/pages/{id}/week', { path: { id: page.id } }), [page.id, page.looks]);
  if (!week.value) return <Trouble problem={week.problem} />;
  const { looks, changes, learned } = week.value;
  return (
    <div class="columns">
      <section class="section">
        <h2>The next look</h2>
        <Why page={page} now={now} />
      </section>
      {learned && (
        <section class="section">
          <h2>Learned week</h2>
          <p class="soft small">How fast it is believed to change at each hour, against its average.</p>
          <WeekHeatmap
            values={learned}
            label="Learned rate of change by hour of the week"
            tell={(value) => `${number(value, 2)} times the average`}
          />
        </section>
      )}
      <section class="section">
        <h2>Changes seen</h2>
        <p class="soft small">By the hour at which they were found.</p>
        <WeekHeatmap
          values={changes.map((count, i) => (looks[i] === 0 ? undefined : count))}
          label="Changes found by hour of the week"
          tell={(value) => (value === undefined ? 'no look' : `${value} changes found`)}
        />
      </section>
      <section class="section">
        <h2>Looks</h2>
        <p class="soft small">When requests were spent on it.</p>
        <WeekHeatmap
          values={looks}
          label="Looks by hour of the week"
          colour="var(--bar)"
          tell={(value) => `${value ?? 0} looks`}
        />
      </section>
    </div>
  );
}

function Why({ page, now }: Props) {
  if (page.paused) return <p>It is paused: no look is planned.</p>;
  if (page.nextProbe === null) return <p>A look is under way, or waits in line until its site may be asked again.</p>;
  const days = (Date.parse(page.nextProbe) - (page.lastSeen ? Date.parse(page.lastSeen) : now)) / 86_400_000;
  const expected = page.rate === null ? null : Math.max(0, days) * page.rate;
  return (
    <div class="stack">
      <p>
        Planned {until(page.nextProbe, now)}, at <time dateTime={page.nextProbe}>{dateTime(page.nextProbe)}</time>.
      </p>
      {expected !== null && page.lastSeen !== null && (
        <p>
          By then {number(expected, 2)} changes are expected since our copy was last seen to be current: it changes{' '}
          {rate(page.rate)}, so the chance of finding something new is about {percent(1 - Math.exp(-expected))}. Looking
          sooner would take a request from a page where it finds more; looking later would let changes here wait.
        </p>
      )}
      {page.lastSeen === null && (
        <p>It has not been read yet, so the first look comes as soon as the budget and its site allow.</p>
      )}
      <dl class="small soft">
        <div>
          Weight {number(page.weight)}
          {page.spacingSeconds ? `, at most every ${page.spacingSeconds} s` : ''}
        </div>
      </dl>
    </div>
  );
}
