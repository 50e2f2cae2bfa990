import { harmless } from '../format.ts';
import type { Difference } from '../server.ts';

type Runs = NonNullable<Difference['blocks'][number]['words']>;

/** One line that became another, word by word; `side` leaves out what the other side shows. */
export function Words({ words, side }: { readonly words: Runs; readonly side?: 'old' | 'new' }) {
  return (
    <bdi>
      {words.map((run, i) => {
        if (run.kind === 'same') return <span key={i}>{harmless(run.text)}</span>;
        if (run.kind === 'removed') return side === 'new' ? null : <del key={i}>{harmless(run.text)}</del>;
        return side === 'old' ? null : <ins key={i}>{harmless(run.text)}</ins>;
      })}
    </bdi>
  );
}
