import { harmless } from '../format.ts';
import type { Difference } from '../server.ts';
import { Words } from './words.tsx';

type Block = Difference['blocks'][number];

const linesOf = (block: Block): readonly string[] => (Array.isArray(block.lines) ? block.lines : []);

export function Same({ block }: { readonly block: Block }) {
  const shown = (block.first?.length ?? 0) + (block.last?.length ?? 0);
  const left = (typeof block.lines === 'number' ? block.lines : 0) - shown;
  const line = (text: string, i: number) => (
    <div key={i} class="line same">
      {harmless(text)}
    </div>
  );
  return (
    <>
      {block.first?.map(line)}
      {left > 0 && <div class="gap">{left === 1 ? '1 line' : `${left} lines`} the same</div>}
      {block.last?.map(line)}
    </>
  );
}

/** Old and new in one column. */
export function DiffInline({ difference }: { readonly difference: Difference }) {
  return (
    <div class="diff" dir="auto">
      {difference.blocks.map((block, i) => {
        if (block.kind === 'same') return <Same key={i} block={block} />;
        if (block.words)
          return (
            <div key={i} class="line changed">
              <Words words={block.words} />
            </div>
          );
        return linesOf(block).map((text, j) => (
          <div key={`${i}-${j}`} class={`line ${block.kind}`}>
            <span class="hidden-text">{block.kind}: </span>
            {harmless(text)}
          </div>
        ));
      })}
    </div>
  );
}
