import { useState } from 'preact/hooks';
import { Foreign } from '../parts/foreign.tsx';
import { Kind } from '../parts/kind.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, number, until } from '../format.ts';
import { address } from '../route.ts';
import { ask, useAsk, useNow } from '../server.ts';

/** Rows that are drawn; the filter finds the others. */
const shownMax = 300;

/** Whose servers we ask, how politely, and how they fare. */
export function Sites() {
  const sites = useAsk(() => ask('GET /api/sites'), [], 10_000);
  const [text, setText] = useState('');
  const now = useNow();
  const fitting = (sites.value?.sites ?? []).filter(({ site }) => site.includes(text.trim().toLowerCase()));
  return (
    <>
      <div class="title-row">
        <h1>
          Sites <span class="soft small">{sites.value ? number(sites.value.total, 9) : ''}</span>
        </h1>
      </div>
      <div class="stack">
        <input
          data-filter
          type="search"
          aria-label="Filter by name"
          placeholder="Filter by name"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Trouble problem={sites.problem} />
        <div class="scrolls">
          <table class="sites">
            <thead>
              <tr>
                <th scope="col">Site</th>
                <th scope="col" class="number">
                  Pages
                </th>
                <th scope="col" class="number wide">
                  Looks
                </th>
                <th scope="col" class="number">
                  Changes
                </th>
                <th scope="col" class="number wide">
                  In trouble
                </th>
                <th scope="col" class="number wide">
                  Spacing
                </th>
                <th scope="col" class="wide">
                  Last look
                </th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {fitting.slice(0, shownMax).map((site) => (
                <tr key={site.site}>
                  <td>
                    <a href={address(['sites', site.site])}>
                      <Foreign text={site.site} />
                    </a>
                  </td>
                  <td class="number">
                    <a href={address(['pages'], { site: site.site })}>{number(site.pages, 9)}</a>
                  </td>
                  <td class="number wide">{number(site.looks, 9)}</td>
                  <td class="number">{number(site.changes, 9)}</td>
                  <td class="number wide">{site.inTrouble === 0 ? '' : number(site.inTrouble, 9)}</td>
                  <td class="number wide">{site.spacingSeconds === null ? '–' : `${number(site.spacingSeconds)} s`}</td>
                  <td class="soft still wide">{ago(site.lastLook, now)}</td>
                  <td>
                    {site.leftAloneUntil ? (
                      <Kind kind={`refused, again ${until(site.leftAloneUntil, now)}`} />
                    ) : site.failuresInRow > 0 ? (
                      <Kind kind={`failed ${site.failuresInRow} times in a row`} />
                    ) : (
                      <span class="soft">open</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {fitting.length > shownMax && <p class="soft small">{fitting.length - shownMax} more; filter to see them.</p>}
        {sites.value && sites.value.total === 0 && (
          <p class="soft">Sites appear here with the first page that is watched.</p>
        )}
      </div>
    </>
  );
}
