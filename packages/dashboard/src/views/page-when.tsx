import { WeekHeatmap } from '../parts/week-heatmap.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { dateTime, many, number, percent, rate, until, usually, weekDay } from '../format.ts';
import { type Answer, type Page, ask, useAsk } from '../server.ts';

interface Props {
  readonly page: Page;
  readonly now: number;
}

type Week = Answer<'GET /api/pages/{id}/week'>;

/** When in the week it changes, when it is looked at next, and why then. */
export function PageWhen({ page, now }: Props) {
  const week = useAsk(() => ask('GET /api/pages/{id}/week', { path: { id: page.id } }), [page.id, page.looks]);
  if (!week.value) return <Trouble problem={week.problem} />;
  const { looks, changes } = week.value;
  return (
    <div class="columns broad">
      <Coming page={page} now={now} />
      <Learned week={week.value} />
      <section class="section">
        <h2>Changes found</h2>
        <p class="soft small">By the hour at which a look found them; they happened before.</p>
        <WeekHeatmap
          values={changes.map((count, i) => (looks[i] === 0 ? undefined : count))}
          label="Changes found by hour of the week"
          tell={(value) => (value === undefined ? 'no look' : many(value, 'change'))}
        />
      </section>
      <section class="section">
        <h2>Looks</h2>
        <p class="soft small">When requests were spent on it.</p>
        <WeekHeatmap
          values={looks}
          label="Looks by hour of the week"
          colour="var(--bar)"
          tell={(value) => many(value ?? 0, 'look')}
        />
      </section>
    </div>
  );
}

function Learned({ week }: { readonly week: Week }) {
  const { learned, rate: perDay } = week;
  const [low, high] = week.rateInterval ?? [null, null];
  const sure = low === null || high === null ? '' : `; 95 % sure of ${rate(low)} to ${rate(high)}`;
  const least = low !== null && low > 0 && high === null ? `; 95 % sure of ${rate(low)} or more` : '';
  const perHour = (pace: number): string => (perDay === null ? `× ${number(pace, 2)}` : rate(perDay * pace));
  return (
    <section class="section">
      <h2>Learned week</h2>
      <p class="soft small">
        {perDay === null
          ? 'How fast it is believed to change at each hour.'
          : `${rate(perDay)} on average${sure}${least}.`}
        {week.usualTime ? ` Usually ${usually(week.usualTime)}.` : learned ? '' : ' Hours are not told apart yet.'}
      </p>
      {learned && (
        <WeekHeatmap
          values={learned}
          label="Learned rate of change by hour of the week"
          tell={(pace, hour) =>
            pace === undefined ? '' : hour < 0 ? perHour(pace) : `${perHour(pace)}, × ${number(pace, 2)} of its average`
          }
        />
      )}
    </section>
  );
}

function Coming({ page, now }: Props) {
  const coming = useAsk(
    () => ask('GET /api/pages/{id}/coming', { path: { id: page.id }, query: { limit: 6 } }),
    [page.id, page.nextProbe, page.looks, page.paused],
    15_000,
  );
  if (!coming.value) return <Trouble problem={coming.problem} />;
  const { state, looks, reasons } = coming.value;
  return (
    <section class="section">
      <h2>Coming looks</h2>
      {looks.length > 0 && (
        <div class="scrolls">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">
                  <span class="hidden-text">Day and time</span>
                </th>
                <th scope="col" class="number">
                  Finds news
                </th>
                <th scope="col" class="number">
                  Pace
                </th>
              </tr>
            </thead>
            <tbody>
              {looks.map((look, i) => (
                <tr key={look.at}>
                  <td class="still">
                    <time dateTime={look.at} title={dateTime(look.at)}>
                      {i === 0 && state === 'in line' ? 'in line' : until(look.at, now)}
                    </time>
                  </td>
                  <td class="soft still">{i === 0 && state === 'in line' ? '' : weekDay(look.at)}</td>
                  <td class="number">{page.lastSeen === null && i === 0 ? '–' : percent(look.chance)}</td>
                  <td class="number soft">× {number(look.pace, 2)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h3>Why then</h3>
      <ul class="reasons small">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      {looks.length > 1 && (
        <p class="soft small">The first is planned; the others follow if nothing unusual is found meanwhile.</p>
      )}
    </section>
  );
}
