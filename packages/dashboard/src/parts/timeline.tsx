import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { axisTimes, bare, clockTime, harmless, span } from '../format.ts';
import { address } from '../route.ts';
import type { Answer } from '../server.ts';

type Probe = Answer<'GET /api/plan'>['probes'][number];

const rowHeight = 20;
const sitesMax = 24;
const left = 150;

const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Sites as rows, time to the right, a stroke for each look that is coming. */
export function Timeline({ probes, now }: { readonly probes: readonly Probe[]; readonly now: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  const empty = probes.length === 0;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const resized = new ResizeObserver(() => setWidth(element.clientWidth));
    resized.observe(element);
    return () => resized.disconnect();
  }, [empty]);
  if (empty) return <p class="soft">No look is planned: nothing is watched, or all of it is paused or under way.</p>;
  const bySite = new Map<string, Probe[]>();
  for (const probe of probes) bySite.set(probe.site, [...(bySite.get(probe.site) ?? []), probe]);
  const sites = [...bySite].sort((a, b) => b[1].length - a[1].length).slice(0, sitesMax);
  const last = Math.max(now + 60_000, ...probes.map((probe) => Date.parse(probe.at)));
  const names = width < 500 ? 90 : left;
  const at = (ms: number): number => names + ((Math.max(ms, now) - now) / (last - now)) * (width - names - 8);
  const parts = width < 500 ? 2 : 4;
  const ticks = Array.from({ length: parts + 1 }, (_, i) => now + ((last - now) * i) / parts);
  const times = axisTimes(ticks);
  return (
    <div ref={box} class="timeline">
      <svg
        width={width}
        height={sites.length * rowHeight + 20}
        role="img"
        aria-label={`${probes.length} coming looks at ${bySite.size} sites within ${span(last - now)}`}
      >
        {ticks.map((ms, i) => (
          <g key={i}>
            <line x1={at(ms)} x2={at(ms)} y1={16} y2={sites.length * rowHeight + 18} stroke="var(--line)" />
            <text x={at(ms)} y={11} text-anchor={i === parts ? 'end' : i === 0 ? 'start' : 'middle'}>
              {i === 0 ? 'now' : last - now > 86_400_000 ? `in ${span(ms - now)}` : times[i]}
            </text>
          </g>
        ))}
        {sites.map(([site, ours], row) => (
          <g key={site} transform={`translate(0 ${18 + row * rowHeight})`}>
            <a href={address(['sites', site])}>
              <text x={0} y={13}>
                {short(harmless(site), Math.floor(names / 6.4))}
              </text>
            </a>
            {ours.map((probe) => (
              <a key={probe.pageId} href={address(['pages', probe.pageId, 'when'])} tabIndex={-1} aria-hidden="true">
                <rect
                  x={at(Date.parse(probe.at))}
                  y={3}
                  width={3}
                  height={13}
                  fill="var(--accent)"
                  opacity={0.35 + 0.65 * (1 - (probe.current ?? 0))}
                >
                  <title>{`${clockTime(probe.at)} ${harmless(bare(probe.url))}`}</title>
                </rect>
              </a>
            ))}
          </g>
        ))}
      </svg>
      {bySite.size > sites.length && <p class="soft small">and {bySite.size - sites.length} sites more</p>}
    </div>
  );
}
