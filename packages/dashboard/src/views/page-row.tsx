import { ActivityStrip } from '../parts/activity-strip.tsx';
import { CurrentMeter } from '../parts/current-meter.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Kind } from '../parts/kind.tsx';
import { Tags } from '../parts/tags.tsx';
import { ago, bare, harmless, rate, until, waits } from '../format.ts';
import { address } from '../route.ts';
import type { Page } from '../server.ts';

interface Props {
  readonly page: Page | undefined;
  readonly top: string;
  readonly now: number;
  readonly chosen: boolean;
  readonly selected: boolean;
  readonly onSelect: (page: Page) => void;
}

export function PageRow({ page, top, now, chosen, selected, onSelect }: Props) {
  if (!page)
    return (
      <div class="page-row" style={{ top }}>
        <span />
        <span class="soft">…</span>
      </div>
    );
  const name = page.title ?? bare(page.url);
  const state = page.paused ? 'paused' : page.status === 'present' ? undefined : page.status;
  return (
    <div class={`page-row${chosen ? ' chosen' : ''}`} style={{ top }}>
      <input
        type="checkbox"
        aria-label={`Select ${harmless(name).slice(0, 100)}`}
        checked={selected}
        onChange={() => onSelect(page)}
      />
      <div class="names">
        <span class="row" style={{ flexWrap: 'nowrap' }}>
          <a class="one-line" href={address(['pages', page.id])}>
            <Foreign text={name} />
          </a>
          {state && <Kind kind={state} />}
          {page.fault && !state && <Kind kind="trouble" />}
          <Tags tags={page.tags.slice(0, 3)} />
        </span>
        <span class="soft small one-line">
          <Foreign
            text={
              page.fault
                ? page.fault.sentence
                : page.title
                  ? bare(page.url)
                  : `${page.site}${page.select === 'text' ? '' : `, ${page.select}`}`
            }
          />
        </span>
      </div>
      <span class="wide">
        <ActivityStrip activity={page.activity ?? ''} />
      </span>
      <CurrentMeter current={page.current} />
      <span class="wide soft small">{ago(page.lastProbe, now)}</span>
      <span class="wide small" title={waits(page)}>
        {page.paused ? 'paused' : page.nextProbe === null ? 'in line' : until(page.nextProbe, now)}
      </span>
      <span class="wide small" title={`${page.changes} changes in ${page.looks} looks`}>
        {rate(page.rate)}
      </span>
    </div>
  );
}
