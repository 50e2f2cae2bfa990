/** A page as its user wants it watched. What was learned or seen of it lives elsewhere. */

/** Which part of what the server sends is compared, kept and shown. */
export type Select =
  | { readonly kind: 'whole' }
  | { readonly kind: 'text' }
  | { readonly kind: 'main' }
  | { readonly kind: 'links' }
  | { readonly kind: 'css'; readonly expression: string }
  | { readonly kind: 'xpath'; readonly expression: string }
  | { readonly kind: 'jsonpath'; readonly expression: string }
  | { readonly kind: 'jq'; readonly expression: string }
  | { readonly kind: 'regexp'; readonly expression: string };

export type Life =
  | { readonly kind: 'append' }
  | { readonly kind: 'overwrite' }
  | { readonly kind: 'window'; readonly width: number }
  | { readonly kind: 'changes'; readonly count: number };

export type Urgency =
  | { readonly kind: 'uniform' }
  | { readonly kind: 'decay'; readonly rate: number }
  | { readonly kind: 'window'; readonly width: number }
  | { readonly kind: 'polynomial'; readonly power: number };

export interface PageSettings {
  readonly url: string;
  readonly select: Select;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly weight: number;
  readonly urgency?: Urgency;
  readonly life?: Life;
  readonly loss?: 'obsolescence' | 'staleness';
  /** How much being out of date costs at each time of the week, as a number or a profile in seconds from Monday 00:00 UTC. */
  readonly importance?:
    | number
    | { readonly breaks: readonly number[]; readonly values: readonly number[]; readonly period?: number };
  /** The least seconds between two looks at this page, beyond what its site asks for. */
  readonly spacingSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly render?: boolean;
  readonly paused: boolean;
  /** Settings of single stages (conditions for telling, normalisation, discovery), checked by the stage that reads them. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** How a page is watched when its user says nothing but its URL. */
export const usualSettings = {
  select: { kind: 'text' },
  tags: [],
  weight: 1,
  paused: false,
  options: {},
} as const satisfies Omit<PageSettings, 'url'>;

export interface Page extends PageSettings {
  readonly id: string;
  /** Whose politeness counts: the registrable domain, or the host where there is none. */
  readonly site: string;
  readonly addedAtMs: number;
}

/** Settings together with the site that follows from the URL. */
export interface NewPageSettings extends PageSettings {
  readonly site: string;
}
