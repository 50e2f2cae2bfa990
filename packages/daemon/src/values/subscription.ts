/** Who wants to know what, and how it reaches them. */

export type Deliver =
  | {
      readonly kind: 'webhook';
      readonly url: string;
      readonly secret?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'email'; readonly to: string; readonly from?: string }
  | { readonly kind: 'ntfy'; readonly url: string; readonly token?: string; readonly priority?: number }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'discord'; readonly url: string }
  | { readonly kind: 'telegram'; readonly token: string; readonly chat: string; readonly url?: string }
  | { readonly kind: 'matrix'; readonly url: string; readonly room: string; readonly token: string }
  /** The words of a command; the message comes on its standard input as JSON. */
  | { readonly kind: 'command'; readonly command: readonly string[] };

/** When messages are gathered: every so often, or at given times of the day. */
export type Digest = { readonly kind: 'hourly' } | { readonly kind: 'daily'; readonly at: readonly string[] };

/** From and until as "HH:MM" in the zone of the subscription; nothing is sent in between. */
export interface QuietHours {
  readonly from: string;
  readonly until: string;
}

export interface SubscriptionSettings {
  readonly name?: string;
  /** The expression that changes must match; empty matches all. */
  readonly match: string;
  readonly deliver: Deliver;
  readonly digest?: Digest;
  readonly quiet?: QuietHours;
  /** Changes within so many seconds after the first become one message. */
  readonly burstSeconds?: number;
  readonly zone: string;
  readonly template?: { readonly title?: string; readonly body?: string };
  readonly paused: boolean;
}

export interface Subscription extends SubscriptionSettings {
  readonly id: string;
  readonly createdAtMs: number;
}
