import { memo } from '../memo.ts';
import { Excerpt } from '../parts/excerpt.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Kind } from '../parts/kind.tsx';
import { Tags } from '../parts/tags.tsx';
import { ago, bare, clockTime, dateTime, span } from '../format.ts';
import { address } from '../route.ts';
import type { Change } from '../server.ts';

interface Props {
  readonly change: Change;
  readonly index: number;
  readonly chosen: boolean;
  readonly fresh: boolean;
  readonly now: number;
  readonly onMark: (change: Change) => void;
}

function Row({ change, index, chosen, fresh, now, onMark }: Props) {
  const page = address(
    ['pages', change.pageId],
    change.toVersion === undefined ? {} : { to: String(change.toVersion) },
  );
  const gap = change.after ? Date.parse(change.at) - Date.parse(change.after) : undefined;
  return (
    <li
      id={`change-${index}`}
      class={`change${change.seen ? ' seen' : ''}${chosen ? ' chosen' : ''}${fresh ? ' fresh' : ''}`}
    >
      <time class="soft" dateTime={change.at} title={`${dateTime(change.at)}, ${ago(change.at, now)}`}>
        {clockTime(change.at)}
      </time>
      <div class="head">
        <a class="one-line title" href={page}>
          <Foreign text={change.title ?? bare(change.url)} />
        </a>
        <Kind kind={change.kind} />
        <a class="soft small one-line" href={address(['changes'], { site: change.site })}>
          <Foreign text={change.site} />
        </a>
        <Tags tags={change.tags} />
      </div>
      <button
        type="button"
        class="mark"
        title={change.seen ? 'Mark as not seen' : 'Mark as seen'}
        aria-pressed={change.seen ?? false}
        aria-label={change.seen ? 'Mark as not seen' : 'Mark as seen'}
        onClick={() => onMark(change)}
      >
        ✓
      </button>
      <div class="body">
        <Excerpt change={change} />
        {gap !== undefined && <span class="soft small">in the {span(gap)} before</span>}
      </div>
    </li>
  );
}

/** The text "2 min ago" stands in a tooltip only, so a row is drawn anew only when its change is. */
export const ChangeRow = memo(
  Row,
  (old, next) =>
    old.change === next.change && old.chosen === next.chosen && old.fresh === next.fresh && old.index === next.index,
);
