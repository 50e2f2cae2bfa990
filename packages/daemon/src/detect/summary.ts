/** One sentence that says what changed, for lists of changes and subjects of messages. */
import type { Block, Difference } from './difference.ts';
import { nameOfItem, type Item } from './items.ts';

const quoteMax = 120;

export function summaryOf(difference: Difference): string {
  if (difference.number) {
    const { from, to } = difference.number;
    const percent =
      from === 0 ? '' : ` (${to > from ? '+' : '−'}${percentText(Math.abs(((to - from) / from) * 100))} %)`;
    return `${from} → ${to}${percent}`;
  }
  if (difference.items) return itemSummary(difference.items);
  return textSummary(difference.blocks);
}

function percentText(percent: number): string {
  return percent >= 10 ? percent.toFixed(0) : percent.toFixed(1);
}

function itemSummary({ added, changed, removed }: NonNullable<Difference['items']>): string {
  const counts = [
    added.length > 0 && `${added.length} new`,
    changed.length > 0 && `${changed.length} changed`,
    removed.length > 0 && `${removed.length} removed`,
  ].filter(Boolean);
  const first: readonly Item[] = added.length > 0 ? added : changed.length > 0 ? changed.map(({ to }) => to) : removed;
  const names = first.slice(0, 3).map((item) => clipped(nameOfItem(item), 60));
  return `${counts.join(', ')}: ${names.join('; ')}${first.length > 3 ? '; …' : ''}`;
}

function textSummary(blocks: readonly Block[]): string {
  const changed = blocks.find((block) => block.kind === 'changed');
  const added = blocks.find((block) => block.kind === 'added');
  const removed = blocks.find((block) => block.kind === 'removed');
  // One short line for another reads best as such.
  if (added?.lines.length === 1 && removed?.lines.length === 1 && !changed && added.lines[0].length <= 60)
    return `${clipped(removed.lines[0], 60)} → ${clipped(added.lines[0], 60)}`;
  if (added) return `Added: ${clipped(added.lines.join(' / '), quoteMax)}`;
  if (changed) {
    const before = changed.words.filter((run) => run.kind === 'removed').map((run) => run.text);
    const after = changed.words.filter((run) => run.kind === 'added').map((run) => run.text);
    if (before.length === 0) return `Added: ${clipped(after.join(' … '), quoteMax)}`;
    if (after.length === 0) return `Removed: ${clipped(before.join(' … '), quoteMax)}`;
    return `${clipped(before.join(' … '), 60)} → ${clipped(after.join(' … '), 60)}`;
  }
  return removed ? `Removed: ${clipped(removed.lines.join(' / '), quoteMax)}` : 'Changed';
}

function clipped(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
