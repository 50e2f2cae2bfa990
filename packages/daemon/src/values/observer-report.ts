/** An observer elsewhere, as its coordinator knows it. */
export interface ObserverReport {
  readonly name: string;
  readonly state: 'there' | 'away' | 'disbelieved';
  /** Null of one that has said that it leaves. */
  readonly lastHeardMs: number | null;
  /** Sites that it has and this coordinator looks after. */
  readonly sites: readonly string[];
  /** URLs that it carries copies of, for all coordinators. */
  readonly places: number;
  /** Looks that its reports stand for. */
  readonly looks: number;
  /** Answers that it has given to this coordinator. */
  readonly reports: number;
  /** When this coordinator first heard of it: looks, reports and bytes are counted from then on. */
  readonly sinceMs: number;
  readonly latencyMs: number | null;
  /** Bytes that went over the link for it, both ways. */
  readonly linkBytes: number;
  /** Bytes that a robot would have sent home for the same looks, less those. */
  readonly savedBytes: number;
}
