/**
 * Regular expressions that people write, run on text that strangers write: each run is ended when its time is up, because
 * one nested quantifier can otherwise hold the whole process for hours.
 */
import { createContext, Script } from 'node:vm';

/** A sound expression reads a 5 MB page in far less; a backtracking one would need years. */
export const patternMsMax = 500;

/** `/…/flags` or the expression alone. */
export function compilePattern(expression: string): RegExp | { readonly wrong: string } {
  const slashed = /^\/(.*)\/([dgimsuvy]*)$/s.exec(expression);
  const source = slashed ? slashed[1] : expression;
  const flags = new Set(slashed ? slashed[2] : '');
  flags.add('g').delete('y');
  if (!flags.has('v')) flags.add('u');
  try {
    return new RegExp(source, [...flags].join(''));
  } catch (error) {
    // Expressions from other tools often escape what unicode mode forbids to escape.
    try {
      return new RegExp(source, [...flags].filter((flag) => flag !== 'u' && flag !== 'v').join(''));
    } catch {
      return { wrong: error instanceof Error ? error.message : String(error) };
    }
  }
}

const sandbox = createContext(Object.create(null) as object) as {
  pattern?: RegExp | undefined;
  text?: string | undefined;
  replacement?: string | undefined;
};
const matching = new Script('[...text.matchAll(pattern)].map((match) => [...match])');
const replacing = new Script('text.replace(pattern, replacement)');
const testing = new Script('pattern.lastIndex = 0, pattern.test(text)');

function bounded<T>(script: Script, pattern: RegExp, text: string, replacement?: string): T | undefined {
  sandbox.pattern = pattern;
  sandbox.text = text;
  sandbox.replacement = replacement;
  try {
    return script.runInContext(sandbox as object as import('node:vm').Context, { timeout: patternMsMax }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    sandbox.pattern = sandbox.text = sandbox.replacement = undefined;
  }
}

/** Every match with its groups; undefined when time ran out. */
export function matches(pattern: RegExp, text: string): readonly (readonly (string | undefined)[])[] | undefined {
  return bounded(matching, pattern, text);
}

export function replaceAll(pattern: RegExp, text: string, replacement: string): string | undefined {
  return bounded(replacing, pattern, text, replacement);
}

export function contains(pattern: RegExp, text: string): boolean | undefined {
  return bounded(testing, pattern, text);
}
