/** What a reader of some format finds, a batch at a time, in the order of the file. */

export interface PastVersion {
  readonly atMs: number;
  readonly text: string;
  readonly format: string;
  readonly number?: number;
}

export type Found =
  | {
      readonly kind: 'page';
      /** Where it stands in the file, in words: "line 7", "job 3", "watch 1b2c…". */
      readonly where: string;
      /** The page as the API takes it. */
      readonly input: Readonly<Record<string, unknown>>;
      readonly versions?: readonly PastVersion[];
      /** What an export of our own knew of the page beside its settings. */
      readonly state?: Readonly<Record<string, unknown>>;
      readonly addedAtMs?: number;
    }
  /** Something that comes over differently, or not at all. */
  | {
      readonly kind: 'note';
      readonly grade: 'approximated' | 'impossible';
      readonly where: string;
      readonly sentence: string;
    }
  /** The file cannot be read on; nothing of it is taken over. */
  | { readonly kind: 'broken'; readonly sentence: string };

export type Reader = AsyncIterable<readonly Found[]>;

export const broken = (sentence: string): Found => ({ kind: 'broken', sentence });
export const approximated = (where: string, sentence: string): Found => ({
  kind: 'note',
  grade: 'approximated',
  where,
  sentence,
});
export const impossible = (where: string, sentence: string): Found => ({
  kind: 'note',
  grade: 'impossible',
  where,
  sentence,
});
