/**
 * What the subscriptions ask of the plan, for pages whose user did not say.
 *
 * Urgency: who is told at once loses by waiting (half of the worth in six hours), who reads an hourly digest loses less, and
 * for a daily one any time of the day is as good. Life: who asks for the words that came or went loses a change that was
 * overwritten before anybody looked; who asks only where something happened does not.
 */
import type { Life, Page, Urgency } from '../values/page.ts';
import type { Subscription } from '../values/subscription.ts';
import { needsTexts, type Expression } from './expression.ts';
import { matches, type Told } from './match.ts';

export interface Needs {
  readonly urgency?: Urgency;
  readonly life?: Life;
}

/** What is left of a change's worth after an hour of waiting. */
const atOnce = 0.5 ** (1 / 6);
const hourly = 0.5 ** (1 / 24);

type Perhaps = boolean | undefined;
/** What of a page says whom its changes concern. */
export type Concerned = Pick<Page, 'id' | 'url' | 'site' | 'title' | 'tags'>;

/** Whether changes of this page can match: true, false, or undefined where it depends on the change. */
export function concerns(expression: Expression, page: Concerned): Perhaps {
  switch (expression.kind) {
    case 'all':
      return true;
    case 'not': {
      const part = concerns(expression.part, page);
      return part === undefined ? undefined : !part;
    }
    case 'and':
    case 'or': {
      const parts = expression.parts.map((part) => concerns(part, page));
      const decisive = expression.kind === 'or';
      if (parts.includes(decisive)) return decisive;
      return parts.includes(undefined) ? undefined : !decisive;
    }
    case 'number':
      return undefined;
    case 'text': {
      if (!['page', 'url', 'site', 'tag'].includes(expression.field)) return undefined;
      const { id: pageId, url, site, tags } = page;
      const any: Told = { pageId, url, site, tags, kind: 'changed', atMs: 0, count: 1, summary: '' };
      return matches(expression, any);
    }
  }
}

export function needsOf(
  page: Concerned,
  subscriptions: readonly { readonly subscription: Subscription; readonly expression: Expression }[],
): Needs {
  const interested = subscriptions.filter(({ expression }) => concerns(expression, page) !== false);
  if (interested.length === 0) return {};
  const now = interested.some(({ subscription }) => !subscription.digest);
  const soon = interested.some(({ subscription }) => subscription.digest?.kind === 'hourly');
  const wordy = interested.some(({ expression }) => needsTexts(expression));
  return {
    ...(now ? { urgency: { kind: 'decay', rate: atOnce } } : soon ? { urgency: { kind: 'decay', rate: hourly } } : {}),
    ...(wordy ? { life: { kind: 'overwrite' } } : {}),
  };
}
