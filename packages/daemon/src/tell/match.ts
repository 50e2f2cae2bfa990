/** Whether a change is one that somebody asked to hear of. */
import { createContext, Script } from 'node:vm';
import { kindsOf, type Change } from '../values/change.ts';
import type { Comparison, Expression, NumberField, TextField, TextTest } from './expression.ts';

export type Told = Omit<Change, 'sequence' | 'id'>;

/** What came and what went, in words. */
export interface ChangedTexts {
  readonly added: string;
  readonly removed: string;
}

const noTexts: ChangedTexts = { added: '', removed: '' };

export function matches(expression: Expression, change: Told, texts: ChangedTexts = noTexts): boolean {
  switch (expression.kind) {
    case 'all':
      return true;
    case 'and':
      return expression.parts.every((part) => matches(part, change, texts));
    case 'or':
      return expression.parts.some((part) => matches(part, change, texts));
    case 'not':
      return !matches(expression.part, change, texts);
    case 'text':
      return valuesOf(expression.field, change, texts).some((value) => passes(expression.test, value));
    case 'number':
      return compares(numberOf(expression.field, change, texts), expression.comparison, expression.value);
  }
}

function valuesOf(field: TextField, change: Told, texts: ChangedTexts): readonly string[] {
  switch (field) {
    case 'page':
      return [change.pageId, change.url];
    case 'url':
      return [change.url];
    case 'site':
      return [change.site];
    case 'tag':
      return change.tags;
    case 'title':
      return [change.title ?? ''];
    case 'kind':
      return kindsOf(change);
    case 'summary':
      return [change.summary];
    case 'added':
      return [texts.added];
    case 'removed':
      return [texts.removed];
    case 'text':
      return [texts.added, texts.removed, change.title ?? '', change.summary];
  }
}

function numberOf(field: NumberField, change: Told, texts: ChangedTexts): number {
  return field === 'count' ? change.count : texts.added.length + texts.removed.length;
}

function compares(value: number, comparison: Comparison, other: number): boolean {
  switch (comparison) {
    case '=':
      return value === other;
    case '!=':
      return value !== other;
    case '<':
      return value < other;
    case '<=':
      return value <= other;
    case '>':
      return value > other;
    case '>=':
      return value >= other;
  }
}

function passes(test: TextTest, value: string): boolean {
  if (test.kind === 'equals') return value.toLowerCase() === test.value;
  if (test.kind === 'contains') return value.toLowerCase().includes(test.value);
  return found(test.pattern, test.flags, value);
}

/** A sound expression needs microseconds; one that backtracks for ever must not hold up everybody's messages. */
const patternMsMax = 100;
const sandbox = createContext(Object.create(null) as object);
const search = new Script('new RegExp(pattern, flags).test(text)');

function found(pattern: string, flags: string, text: string): boolean {
  Object.assign(sandbox, { pattern, flags, text });
  try {
    return search.runInContext(sandbox, { timeout: patternMsMax }) as boolean;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
