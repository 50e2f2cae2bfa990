import { useMemo } from 'preact/hooks';
import { lazy } from '../lazy.tsx';
import { Figures } from '../parts/figures.tsx';
import { Gauge } from '../parts/gauge.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, bytes, many, number, percent } from '../format.ts';
import { type Answer, ask, useAsk, useNow } from '../server.ts';

const Plot = lazy(async () => (await import('../parts/plot.tsx')).Plot);

/** A share that is tiny is said as such. */
const share = (value: number | null): string =>
  value === null ? '–' : value < 1e-4 && value > 0 ? '< 0.01 %' : percent(value, 2);

/** Rows that are drawn. */
const crewShownMax = 300;

type Observer = Answer<'GET /api/robots'>['observers'][number];

/** Of one that is away nobody knows whether it goes on, only until when it may. */
function standing({ state, latencyMs, lastHeardAt, sites }: Observer, now: number): string {
  if (state === 'disbelieved') return 'not believed: its reports did not hold';
  if (state === 'there') return latencyMs === null ? 'there' : `there, ${number(latencyMs, 1)} ms away`;
  const heard = lastHeardAt === null ? 'has left' : `away, last heard ${ago(lastHeardAt, now)}`;
  return sites.length > 0 ? `${heard}; its sites are its own until its mandates end` : heard;
}

type Robot = NonNullable<Answer<'GET /api/robots'>['crew']>[number];

/** How those that are there suit those that are wanted. */
function enough(wanted: number, there: number): string {
  if (there === 0 && wanted > 0) return 'None is there: start one with “revisit robot”.';
  if (there < wanted) return `${number(wanted - there, 9)} more could be kept busy.`;
  return there > wanted ? 'Fewer would do the same.' : 'As many as can be kept busy.';
}

interface CrewProps {
  readonly crew: readonly Robot[];
  readonly wanted: number;
  /** Whether they can be asked. */
  readonly linked: boolean;
}

/** Who looks for this cluster. */
function Crew({ crew, wanted, linked }: CrewProps) {
  const now = useNow();
  const whole = Math.ceil(wanted);
  const there = crew.filter((robot) => robot.there).length;
  return (
    <section class="section">
      <h2>
        Robots: {number(whole, 9)} wanted, {linked ? `${number(there, 9)} there` : 'none to be reached'}
      </h2>
      <p class="soft small">
        {linked && enough(whole, there)} As many are wanted as the budget can use and the indexing queue can take, of 64
        requests at once each; those that were heard in the last ten minutes are listed, also where they are not there
        any more.
      </p>
      {crew.length > 0 && (
        <table>
          <TableHead words={['Name', 'State']} numbers={['Looks in the last minute', 'In all']} />
          <tbody>
            {crew.slice(0, crewShownMax).map((robot) => (
              <tr key={`${robot.name} ${robot.process}`} class={robot.there ? undefined : 'soft'}>
                <td>
                  <Foreign text={robot.name} />
                  <div class="soft small">
                    <Foreign text={robot.process} />
                  </div>
                </td>
                <td class="still">{robot.there ? 'there' : `gone, last heard ${ago(robot.lastHeardAt, now)}`}</td>
                <td class="number">{number(robot.looksLastMinute, 9)}</td>
                <td class="number">
                  {number(robot.looks, 9)}
                  {robot.handedBack > 0 && <div class="soft small">{number(robot.handedBack, 9)} given back</div>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {crew.length > crewShownMax && <p class="soft small">{number(crew.length - crewShownMax, 9)} more.</p>}
    </section>
  );
}

/** Who stands near the sources, and what that saves. */
function Observers({ observers }: { readonly observers: readonly Observer[] }) {
  const now = useNow();
  return (
    <section class="section">
      <h2>Observers</h2>
      <p class="soft small">
        Robots near their sources: they look by themselves and report differences. A site goes to one when that takes
        less time than asking from here.
      </p>
      <table>
        <TableHead words={['Name', 'Sites']} numbers={['Looks', 'Over the link', 'Saved']} />
        <tbody>
          {observers.map((observer) => (
            <tr key={observer.name}>
              <td>
                {observer.name}
                <div class="soft small">{standing(observer, now)}</div>
              </td>
              <td>
                {observer.sites.slice(0, 5).join(', ') || '–'}
                {observer.sites.length > 5 ? ` and ${number(observer.sites.length - 5)} more` : ''}
              </td>
              <td class="number">{number(observer.looks, 9)}</td>
              <td class="number">{bytes(observer.linkBytes)}</td>
              <td class="number">{bytes(observer.savedBytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Who fetches, who indexes, and whether they suit each other. */
export function Robots({ linked }: Pick<CrewProps, 'linked'>) {
  const robots = useAsk(() => ask('GET /api/robots'), [], 2_000);
  if (!robots.value)
    return (
      <>
        <h1>Robots</h1>
        {robots.problem ? <Trouble problem={robots.problem} /> : <p class="soft">…</p>}
      </>
    );
  const { value } = robots;
  return (
    <>
      <div class="title-row">
        <h1>Robots</h1>
      </div>
      <div class="stack wide-gap">
        <Figures
          figures={[
            {
              name: 'Requests under way',
              value: `${number(value.inFlight)} of ${number(value.requestsNow)}`,
              note: <Gauge part={value.inFlight} whole={value.requestsNow} label="Requests under way" />,
            },
            {
              name: 'Indexing queue',
              value: `${number(value.queued, 9)} of ${number(value.queueMax, 9)}`,
              note: <Gauge part={value.queued} whole={value.queueMax} label="Places taken in the indexing queue" />,
            },
            {
              name: 'In line for their site',
              value: number(value.waiting, 9),
              note: 'pages that are due, while their site rests',
            },
            {
              name: 'Looks since the start',
              value: number(value.kept, 9),
              note: `${many(value.sent, 'probe')} sent`,
            },
          ]}
        />
        {value.crew && <Crew crew={value.crew} wanted={value.wanted} linked={linked} />}
        {value.observers.length > 0 && <Observers observers={value.observers} />}
        <section class="section">
          <h2>Seen, and as the model forecasts</h2>
          <p class="soft small">
            The indexing queue as M/M/1/K: starved while it is empty, overflowing when it is full. Too few robots starve
            it, too many overflow it.
          </p>
          <table>
            <thead>
              <tr>
                <th scope="col">Share</th>
                <th scope="col" class="number">
                  Seen
                </th>
                <th scope="col" class="number">
                  Forecast
                </th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <td>of time with nothing to index</td>
                <td class="number">{share(value.seen.starvation)}</td>
                <td class="number">{share(value.forecast.starvation)}</td>
              </tr>
              <tr>
                <td>of answers that found the queue full</td>
                <td class="number">{share(value.seen.loss)}</td>
                <td class="number">{share(value.forecast.loss)}</td>
              </tr>
            </tbody>
          </table>
          <p class="small">
            {number(value.arrivalPerSecond, 2)} answers a second come in; {number(value.servicePerSecond, 2)} a second
            could be indexed: a load of {share(value.load)}. {number(value.overflowed, 9)} were dropped so far and stay
            due.
          </p>
        </section>
        <Pools value={value} />
      </div>
    </>
  );
}

/** What a pool of another size would do, if its robots never had to wait for budget or sites. */
function Pools({ value }: { readonly value: Answer<'GET /api/robots'> }) {
  const { curve, robotsNow } = value;
  // Measured times move all the time; the plot need not.
  const key = `${robotsNow} ${curve.map(({ starvation, loss }) => (starvation + 2 * loss).toFixed(2)).join()}`;
  const x = useMemo(() => curve.map(({ robots }) => robots), [key]);
  const lines = useMemo(() => {
    const nearest = curve.reduce(
      (best, { robots }) => (Math.abs(robots - robotsNow) < Math.abs(best - robotsNow) ? robots : best),
      Infinity,
    );
    return [
      { label: 'nothing to index', colour: '--plot-1', values: curve.map(({ starvation }) => 100 * starvation) },
      { label: 'queue full', colour: '--plot-2', values: curve.map(({ loss }) => 100 * loss) },
      {
        label: 'the pool now',
        colour: '--removed',
        points: true,
        values: curve.map(({ robots, starvation }) => (robots === nearest ? 100 * starvation : null)),
      },
    ];
  }, [key]);
  if (curve.length < 2) return null;
  return (
    <section class="section">
      <h2>Other pools</h2>
      <p class="soft small">
        What the model forecasts for other numbers of requests at once, of robots that never wait for the budget or a
        site.
      </p>
      <Plot
        x={x}
        lines={lines}
        label="Forecast of starvation and overflow against the number of requests at once"
        xLabel="requests at once"
        yLabel="percent"
        height={200}
      />
    </section>
  );
}
