/** For tests: the documents that people read, and the blocks of code in them. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../../..');

export const documents: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'packages/core/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].filter((name) => existsSync(join(root, name)));

export const textOf = (document: string): string => readFileSync(join(root, document), 'utf8');

export interface Block {
  /** What stands behind the three marks. */
  readonly info: string;
  readonly text: string;
  readonly line: number;
}

export function blocksOf(document: string): readonly Block[] {
  const lines = textOf(document).split('\n');
  const blocks: Block[] = [];
  for (let i = 0; i < lines.length; i++) {
    const info = /^```(.*)$/.exec(lines[i]!)?.[1];
    if (info === undefined) continue;
    const end = lines.indexOf('```', i + 1);
    blocks.push({ info: info.trim(), text: lines.slice(i + 1, end).join('\n'), line: i + 1 });
    i = end;
  }
  return blocks;
}

export interface Program extends Block {
  /** What it prints, where that stands under it. */
  readonly wanted: string | undefined;
}

export function programsOf(document: string): readonly Program[] {
  const blocks = blocksOf(document);
  return blocks.flatMap((block, i) =>
    block.info === 'ts' ? [{ ...block, wanted: blocks[i + 1]?.info === 'text' ? blocks[i + 1]!.text : undefined }] : [],
  );
}
