/** What may be kept of a page's past. The last version, and the last that was told, always stay. */
export interface Retention {
  readonly ageMsMax?: number;
  readonly countMax?: number;
  readonly bytesMax?: number;
  /** How long looks are remembered one by one; a few more than that may stay. */
  readonly looksAgeMsMax?: number;
}
