import { harmless } from '../format.ts';
import type { Difference } from '../server.ts';
import { Words } from './words.tsx';

type Block = Difference['blocks'][number];
interface Pair {
  readonly old?: preact.ComponentChildren;
  readonly next?: preact.ComponentChildren;
  readonly kind: 'same' | 'changed' | 'gap';
  readonly removed?: boolean;
  readonly added?: boolean;
}

const linesOf = (block: Block): readonly string[] => (Array.isArray(block.lines) ? block.lines : []);

/** Blocks as rows of two cells; removed lines stand beside the added ones that follow them. */
function pairsOf(blocks: readonly Block[]): Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]!;
    if (block.kind === 'same') {
      const same = (text: string): Pair => ({ old: harmless(text), next: harmless(text), kind: 'same' });
      const left =
        (typeof block.lines === 'number' ? block.lines : 0) - (block.first?.length ?? 0) - (block.last?.length ?? 0);
      pairs.push(...(block.first ?? []).map(same));
      if (left > 0) pairs.push({ old: left === 1 ? '1 line the same' : `${left} lines the same`, kind: 'gap' });
      pairs.push(...(block.last ?? []).map(same));
    } else if (block.words) {
      pairs.push({
        old: <Words words={block.words} side="old" />,
        next: <Words words={block.words} side="new" />,
        kind: 'changed',
      });
    } else {
      const next = blocks[i + 1];
      const paired = block.kind === 'removed' && next?.kind === 'added';
      const old = block.kind === 'removed' ? linesOf(block) : [];
      const added = block.kind === 'added' ? linesOf(block) : paired ? linesOf(next) : [];
      for (let j = 0; j < Math.max(old.length, added.length); j++)
        pairs.push({
          ...(old[j] === undefined ? {} : { old: harmless(old[j]), removed: true }),
          ...(added[j] === undefined ? {} : { next: harmless(added[j]), added: true }),
          kind: 'changed',
        });
      if (paired) i++;
    }
  }
  return pairs;
}

/** Old at the left, new at the right. */
export function DiffSides({ difference }: { readonly difference: Difference }) {
  return (
    <div class="diff sides" dir="auto">
      {pairsOf(difference.blocks).map((pair, i) =>
        pair.kind === 'gap' ? (
          <div key={i} class="gap">
            {pair.old}
          </div>
        ) : (
          <>
            <div class={`line ${pair.kind === 'same' ? 'same' : pair.removed ? 'removed' : 'changed'}`}>{pair.old}</div>
            <div class={`line ${pair.kind === 'same' ? 'same' : pair.added ? 'added' : 'changed'}`}>{pair.next}</div>
          </>
        ),
      )}
    </div>
  );
}
