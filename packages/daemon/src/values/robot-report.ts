/** A robot elsewhere, as its coordinator knows it from what comes back. */
export interface RobotReport {
  /** What its key allows. */
  readonly name: string;
  /** Machine and process, as it says itself: robots may share a key. Empty where it does not say. */
  readonly process: string;
  /** Looks that it has answered to this coordinator. */
  readonly looks: number;
  /** When this coordinator first heard of it: looks and what was handed back are counted from then on. */
  readonly sinceMs: number;
  readonly looksLastMinute: number;
  /** Probes that it gave back without a look: their sites were not to be asked yet, or another had them before and was lost. */
  readonly handedBack: number;
  /** Heard of lately; of one that is not, only when it was last heard is known. */
  readonly there: boolean;
  readonly lastHeardMs: number;
}
