/** What is believed of pages and belongs to no single one, as it is kept. */
export interface Shared {
  readonly guess: number;
  readonly memories: readonly number[][];
  readonly week: number[][];
  readonly siblings: number[][];
  /** Not in what earlier versions saved. */
  readonly episodes?: number[][];
  readonly activities?: number[][];
  readonly siteWeeks?: (readonly [number, number[][]])[];
  readonly kinds?: number[][];
}
