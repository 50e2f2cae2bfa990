import { Figures } from '../parts/figures.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { WeekHeatmap } from '../parts/week-heatmap.tsx';
import { ago, harmless, many, milliseconds, number, percent, until } from '../format.ts';
import { address } from '../route.ts';
import { type Answer, ask, useAsk, useNow } from '../server.ts';

/** One site: how it is treated, what its robots.txt asks, and how it answers by hour of the week. */
export function SiteView({ site }: { readonly site: string }) {
  const asked = useAsk(() => ask('GET /api/sites/{site}', { path: { site } }), [site], 10_000);
  const now = useNow();
  if (!asked.value)
    return (
      <>
        <h1>Site</h1>
        {asked.problem ? <Trouble problem={asked.problem} /> : <p class="soft">…</p>}
      </>
    );
  const { site: standing, robots, hours } = asked.value;
  const pages = many(standing.pages, 'page');
  const by = (read: (hour: (typeof hours)[number]) => number): (number | undefined)[] => {
    const values: (number | undefined)[] = Array.from({ length: 168 });
    for (const hour of hours) values[hour.hour] = read(hour);
    return values;
  };
  return (
    <div class="stack wide-gap">
      <div class="title-row" style={{ marginBottom: 0 }}>
        <h1>
          <Foreign text={standing.site} />
        </h1>
        <a href={address(['pages'], { site })}>{pages}</a>
      </div>
      <Figures
        figures={[
          {
            name: 'Spacing',
            value: standing.spacingSeconds === null ? '–' : `${number(standing.spacingSeconds)} s`,
            note: 'at least, between two requests',
          },
          { name: 'Looks', value: number(standing.looks, 9), note: `last ${ago(standing.lastLook, now)}` },
          {
            name: 'Changes found',
            value: number(standing.changes, 9),
            note: standing.looks > 0 ? `in ${percent(standing.changes / standing.looks, 1)} of looks` : '',
          },
          { name: 'In trouble', value: number(standing.inTrouble), note: `of ${pages}` },
          {
            name: 'State',
            value: standing.leftAloneUntil ? 'left alone' : 'open',
            note: standing.leftAloneUntil
              ? `again ${until(standing.leftAloneUntil, now)}`
              : `${standing.failuresInRow} failures in a row`,
          },
        ]}
      />
      <div class="columns">
        <section class="section">
          <h2>Time to answer by hour of the week</h2>
          <WeekHeatmap
            values={by((hour) => hour.meanMs)}
            label="Mean time to answer by hour of the week"
            tell={(value) => (value === undefined ? 'no look' : milliseconds(value))}
          />
        </section>
        <Failures hours={hours} values={by((hour) => hour.failures / hour.looks)} />
        <RobotsTxt robots={robots} />
      </div>
    </div>
  );
}

type Hours = Answer<'GET /api/sites/{site}'>['hours'];

function Failures({ hours, values }: { readonly hours: Hours; readonly values: readonly (number | undefined)[] }) {
  const sum = (read: (hour: Hours[number]) => number): number => hours.reduce((all, hour) => all + read(hour), 0);
  const [looks, failures, refused] = [
    sum((hour) => hour.looks),
    sum((hour) => hour.failures),
    sum((hour) => hour.refused),
  ];
  const of = `of ${many(looks, 'look')}`;
  return (
    <section class="section">
      <h2>Failures by hour of the week</h2>
      {failures === 0 && <p class="soft">{looks === 0 ? 'No look yet.' : `None ${of} failed.`}</p>}
      {refused > 0 && (
        <p class="soft small">
          {`${number(refused, 9)} ${of} could not be made: robots.txt does not allow it, or the site asked to be left alone.`}
        </p>
      )}
      {failures > 0 && (
        <WeekHeatmap
          values={values}
          label="Share of failed looks by hour of the week"
          colour="var(--removed)"
          tell={(value) => (value === undefined ? 'no look' : `${percent(value)} failed`)}
        />
      )}
    </section>
  );
}

function RobotsTxt({ robots }: { readonly robots: Answer<'GET /api/sites/{site}'>['robots'] }) {
  return (
    <section class="section">
      <h2>robots.txt, as understood</h2>
      {robots.state === 'unread' && <p class="soft">It was not needed yet; it is read before the first look.</p>}
      {robots.state === 'elsewhere' && (
        <p class="soft">
          The robots read it by themselves before they look, and keep to it.
          {robots.crawlDelaySeconds !== null && ` It asks for ${number(robots.crawlDelaySeconds)} s between requests.`}
        </p>
      )}
      {robots.state === 'unreachable' && (
        <p class="notice">
          It could not be read, so nothing of this site may be visited (RFC 9309). It is tried again.
        </p>
      )}
      {robots.state === 'read' && (
        <>
          <p>
            {robots.rules.length === 0
              ? 'Everything may be visited.'
              : `${robots.rules.length === 1 ? '1 rule holds' : `${robots.rules.length} rules hold`} for us; the longest that fits a path decides.`}
            {robots.crawlDelaySeconds !== null && ` It asks for ${robots.crawlDelaySeconds} s between requests.`}
          </p>
          <table>
            <tbody>
              {robots.rules.map(({ allow, path }) => (
                <tr key={`${allow}${path}`}>
                  <td class="still">
                    <span class={`kind ${allow ? 'told' : 'gone'}`}>{allow ? 'allowed' : 'not allowed'}</span>
                  </td>
                  <td class="mono">
                    <bdi>{harmless(path)}</bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {robots.sitemaps.map((url) => (
            <p key={url} class="small">
              Sitemap <Foreign text={url} />
            </p>
          ))}
        </>
      )}
    </section>
  );
}
