/** What the configuration says of collections: pages by tag, each collection with a policy of its own. */
import { CollectionPolicy, type Policy, policies } from '@revisit/core';
import type { NewPageSettings, Page } from '../values/page.ts';
import type { Config, Read } from './config.ts';
import { evenSeconds } from '../values/budget.ts';
import { readPageFields } from './page-input.ts';
import { rateParts, ratePerSecond } from './units.ts';

/** What a collection says for pages that do not say it themselves. */
export interface CollectionRules extends Pick<NewPageSettings, 'life' | 'urgency' | 'loss'> {
  readonly collection: number;
  /** Times each page's own weight. */
  readonly weight: number;
}

export interface Collections {
  readonly policy: Policy;
  readonly of: ((page: Pick<Page, 'tags'>) => CollectionRules) | undefined;
}

/** `budgetSeconds` is the period of the budget, within which busy hours may borrow from quiet ones. */
export function createPolicy(name: string, budgetSeconds = evenSeconds): Policy | undefined {
  const entry = Object.hasOwn(policies, name) ? policies[name] : undefined;
  if (entry?.knob === 'told' && entry.aimed)
    return entry.aimed({ horizonSeconds: Math.max(evenSeconds, budgetSeconds) });
  return entry?.create(1);
}

/** The policy of the whole, or of the pages in no collection and of each collection. */
export function collectionsOf({
  policy: name,
  collections,
  budgetSeconds,
}: Pick<Config, 'policy' | 'collections' | 'budgetSeconds'>): Read<Collections> {
  const whole = createPolicy(name, budgetSeconds);
  if (!whole) return { kind: 'wrong', sentence: policyUnknown(name) };
  const tags = Object.keys(collections);
  if (tags.length === 0) return { kind: 'read', value: { policy: whole, of: undefined } };
  const parts = [{ name: '', policy: whole }];
  const rules: CollectionRules[] = [{ collection: 0, weight: 1 }];
  for (const [n, tag] of tags.entries()) {
    const { policy = name, budget, weight = 1, urgency, life, loss } = collections[tag]!;
    const said = readPageFields({ urgency, life, loss });
    if (said.kind === 'wrong') return { kind: 'wrong', sentence: `collections.${tag}.${said.sentence}` };
    const looksPerSecond = budget === undefined ? undefined : ratePerSecond(budget);
    const period = budget === undefined ? undefined : rateParts(budget);
    const own = createPolicy(policy, period ? period.periodMs / 1000 : budgetSeconds);
    if (!own) return { kind: 'wrong', sentence: `collections.${tag}.${policyUnknown(policy)}` };
    parts.push({ name: tag, policy: own, ...(looksPerSecond === undefined ? {} : { looksPerSecond }) });
    rules.push({ ...said.value, collection: n + 1, weight });
  }
  const place = (page: Pick<Page, 'tags'>) => 1 + tags.findIndex((tag) => page.tags.includes(tag));
  return { kind: 'read', value: { policy: new CollectionPolicy(parts), of: (page) => rules[place(page)]! } };
}

export function policyUnknown(name: string): string {
  return `policy: "${name}" is not known; known policies are ${Object.keys(policies).join(', ')}`;
}
