/**
 * What is taken out of a projection before it is kept (white space, lines and passages by rule, order), and what counts as
 * equal when two are compared although it is kept and shown (case, dates, numbers).
 */
import type { Fault } from '../values/fault.ts';
import type { NormaliseRules } from './options.ts';
import { contains, patternMsMax, replaceAll } from './pattern.ts';

export type Normalised =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'fault'; readonly fault: Fault };

function slow(field: string, pattern: RegExp): Normalised {
  return {
    kind: 'fault',
    fault: {
      code: 'selector-slow',
      sentence: `${field} ${pattern.source} did not end within ${patternMsMax / 1000} s on this page.`,
    },
  };
}

const untidy = /[^\S\n ]| {2}|\n[ \n]| \n|^\s|\s$/;

export function normalise(text: string, rules: NormaliseRules): Normalised {
  let out = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  for (const rule of rules.replace) {
    const replaced = replaceAll(rule.pattern, out, rule.with);
    if (replaced === undefined) return slow('normalise.replace', rule.pattern);
    out = replaced;
  }
  // Text that was taken from a tree is tidy already, and telling so is cheaper than tidying.
  if (rules.whitespace && untidy.test(out)) {
    out = out
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n[ \n]*/g, '\n')
      .trim();
  }
  if (rules.ignore.length === 0 && rules.order === 'keep') return { kind: 'text', text: out };
  let lines = out.split('\n');
  for (const pattern of rules.ignore) {
    const kept: string[] = [];
    for (const line of lines) {
      const found = contains(pattern, line);
      if (found === undefined) return slow('normalise.ignore', pattern);
      if (!found) kept.push(line);
    }
    lines = kept;
  }
  if (rules.order === 'sort') lines.sort();
  return { kind: 'text', text: lines.join('\n') };
}

const months =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const days =
  'mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?';
const dateForms = [
  String.raw`\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?`,
  String.raw`\d{1,2}[./]\d{1,2}[./]\d{2,4}`,
  String.raw`(?:(?:${days})\.?,?\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\s+(?:${months})\b\.?,?(?:\s+\d{4})?|(?:${months})\b\.?\s+\d{1,2}(?:st|nd|rd|th)?\b,?(?:\s+\d{4})?)`,
  String.raw`\d{4}年\d{1,2}月\d{1,2}日`,
  String.raw`\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?(?:\s(?:UTC|GMT|CES?T|[ECMP][SD]T))?`,
  String.raw`(?:\d+|an?|one|a few)\s+(?:second|minute|hour|day|week|month|year|min|sec|hr)s?\s+ago`,
  String.raw`(?:just now|yesterday|today)`,
];
const date = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${dateForms.join('|')})(?![\p{L}\p{N}])`, 'giu');
const number = /(?<![\p{L}\p{N}])[-+]?\d[\d.,:'  ]*\d|\d/gu;

/** The form in which a line is compared. */
export function comparable(line: string, rules: NormaliseRules): string {
  let out = rules.case === 'fold' ? line.toLowerCase() : line;
  if (rules.dates === 'ignore') out = out.replace(date, '⟨date⟩');
  if (rules.numbers === 'ignore') out = out.replace(number, '⟨number⟩');
  return out;
}

export function comparesAsWritten(rules: NormaliseRules): boolean {
  return rules.case === 'keep' && rules.dates === 'keep' && rules.numbers === 'keep';
}
