import { useEffect, useRef, useState } from 'preact/hooks';
import { harmless } from '../format.ts';
import { type Change, type Difference, ask } from '../server.ts';
import { Foreign } from './foreign.tsx';
import { Words } from './words.tsx';

/** One short line that took the place of another: a price, a state. It is read best on one line. */
function swap({ blocks, cut }: Difference): { readonly old: string; readonly next: string } | undefined {
  if (cut || blocks.length !== 2) return undefined;
  const only = (kind: string): string | undefined => {
    const lines = blocks.find((block) => block.kind === kind)?.lines;
    return Array.isArray(lines) && lines.length === 1 && lines[0]!.length <= 60 ? lines[0] : undefined;
  };
  const [old, next] = [only('removed'), only('added')];
  return old === undefined || next === undefined ? undefined : { old, next };
}

/** What a change changed, in a few words: its summary until the difference is there; asked for when the row comes into view. */
export function Excerpt({ change }: { readonly change: Change }) {
  const place = useRef<HTMLDivElement>(null);
  const [difference, setDifference] = useState<Difference>();
  const { pageId, fromVersion, toVersion } = change;
  useEffect(() => {
    if (fromVersion === undefined || toVersion === undefined || !place.current) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        // The page may have been removed since: then the summary stands alone.
        ask('GET /api/pages/{id}/diff', {
          path: { id: pageId },
          query: { from: fromVersion, to: toVersion, brief: true },
        }).then(
          (answer) => {
            // Items and numbers are said better in words.
            if (!['items', 'number'].includes(answer.difference.format)) setDifference(answer.difference);
          },
          () => {},
        );
      },
      { rootMargin: '200px' },
    );
    watch.observe(place.current);
    return () => watch.disconnect();
  }, [pageId, fromVersion, toVersion]);
  const pair = difference && swap(difference);
  if (pair)
    return (
      <div ref={place} class="small excerpt">
        <del>{harmless(pair.old)}</del> → <ins>{harmless(pair.next)}</ins>
      </div>
    );
  return (
    <div ref={place} class="small excerpt">
      {!difference && <Foreign text={change.summary} />}
      {difference?.blocks.map((block, i) => {
        if (block.words)
          return (
            <div key={i}>
              <Words words={block.words} />
            </div>
          );
        const lines = Array.isArray(block.lines) ? block.lines : [];
        return lines.map((line, j) => (
          <div key={`${i}-${j}`}>
            {block.kind === 'added' ? <ins>{harmless(line)}</ins> : <del>{harmless(line)}</del>}
          </div>
        ));
      })}
      {difference?.cut && <div class="soft">…</div>}
    </div>
  );
}
