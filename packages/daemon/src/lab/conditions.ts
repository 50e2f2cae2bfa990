/** Under which conditions policies were compared, and by which score: what a result says nothing without. */
import type { Score, Split } from '@revisit/core';
import type { Comparison } from './compare.ts';

export interface Conditions extends Pick<Comparison, 'learn' | 'loss' | 'spacingSeconds'> {
  readonly siteOf: string;
  /** The file that says what counts more: times of the week, or pages. */
  readonly importance?: { readonly file: string; readonly kind: 'times' | 'pages' };
  /** Sources that had no change in training. */
  readonly leftOut: number;
  /** Looks that the collection itself made at these pages in the time of the test, where a budget is a multiple of them. */
  readonly ownLooks?: number;
  /** Whether it is a collection's own history. */
  readonly own?: true;
  /** Of a trace without dates, the second that stands for its day 0. */
  readonly dayZero?: number;
}

export const usualConditions: Conditions = {
  learn: 'probes',
  loss: 'obsolescence',
  spacingSeconds: 0,
  siteOf: 'prefix',
  leftOut: 0,
};

/** What was asked to be small. */
export function aimOf({ loss, importance }: Conditions): {
  readonly name: string;
  readonly of: (score: Score) => number;
} {
  if (loss === 'staleness') return { name: 'time stale', of: ({ freshness }) => 1 - freshness };
  return importance
    ? { name: 'obsolescence', of: ({ obsolescence }) => obsolescence }
    : { name: 'mean delay', of: ({ meanDelayHours }) => meanDelayHours };
}

/** By the rule that only pages with a change in training take part: then R/page/day is no budget of all that is watched. */
export function leftOutSentence({ names }: Split, leftOut: number): string | undefined {
  if (leftOut === 0) return undefined;
  const all = leftOut + names.length;
  return `${leftOut} of ${all} pages had no change in the time to learn from and ${leftOut === 1 ? 'is' : 'are'} left out: R/page/day and R/change count the other ${names.length} only.`;
}

export const ownLooksSentence = ({ ownLooks }: Conditions): string | undefined =>
  ownLooks === undefined
    ? undefined
    : `1x is as many as the collection itself made at these pages in the time of the test: ${Math.floor(ownLooks)}.`;

/** What a trace that was had by looks does not know. */
export function originSentence({ own, dayZero }: Conditions): string | undefined {
  if (own)
    return 'Changes are known as of the look that found them, so the schedule that really ran has delays near 0 here, and what nobody saw is not there: this compares policies with each other and not with what really happened.';
  return dayZero === undefined
    ? undefined
    : 'The trace has no dates: days count from the first look, which is taken for a Monday. Changes are known as of the look that found them, so a policy that learns when those looks were made finds them sooner than it could have: this says less of delays than it seems.';
}

export function conditionSentences(split: Split, conditions: Conditions): readonly string[] {
  const { learn, loss, spacingSeconds, siteOf, importance, leftOut } = conditions;
  const left = leftOutSentence(split, leftOut);
  const sites = siteOf === 'all' ? 'all pages are one site' : 'a site is what stands before the first slash of a name';
  return [
    ...[originSentence(conditions), left, ownLooksSentence(conditions)].filter((sentence) => sentence !== undefined),
    'Every policy was allowed the same number of probes.',
    learn === 'events'
      ? 'Of the time to learn from, every change and its time was known (--learn events); in the test policies saw only whether a page had changed since their last probe of it.'
      : 'Policies saw only whether a page had changed since their last probe of it.',
    loss === 'staleness'
      ? 'Asked for was that copies be old for as short a time as can be (--loss staleness).'
      : 'Asked for was that changes go unseen for as short a time as can be.',
    ...(importance
      ? [
          importance.kind === 'times'
            ? `Hours of the week count as ${importance.file} says: in obsolescence and freshness, not in the mean delay.`
            : `Pages have the weights of ${importance.file}: in obsolescence, not in the mean delay, freshness or hit rate.`,
        ]
      : []),
    ...(spacingSeconds > 0 ? [`Two probes of one site were ${spacingSeconds} s apart at least; ${sites}.`] : []),
  ];
}
