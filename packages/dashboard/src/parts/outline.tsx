import { harmless } from '../format.ts';
import type { OutlineNode } from '../server.ts';

interface Props {
  readonly nodes: readonly OutlineNode[];
  readonly chosen: string;
  readonly onChoose: (selector: string) => void;
}

/** The parts of a page as text, one to be chosen. Nothing of the page's own markup is here. */
export function Outline({ nodes, chosen, onChoose }: Props) {
  return (
    <div class="outline" role="group" aria-label="Parts of the page">
      <button type="button" aria-pressed={chosen === ''} onClick={() => onChoose('')}>
        <span class="soft small">all</span>
        <span>the whole text</span>
      </button>
      {nodes.map((node) => (
        <button
          key={node.selector}
          type="button"
          class={node.tag}
          title={node.selector}
          aria-pressed={chosen === node.selector}
          style={{ paddingLeft: `${0.5 + Math.min(8, node.depth) * 0.7}rem` }}
          onClick={() => onChoose(chosen === node.selector ? '' : node.selector)}
        >
          <span class="soft small mono one-line">{node.tag}</span>
          <bdi>{harmless(node.text.length > 140 ? `${node.text.slice(0, 140)}…` : node.text)}</bdi>
        </button>
      ))}
    </div>
  );
}
