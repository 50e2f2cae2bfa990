/** JSON as text that compares well: names in order, one value a line. */
import { JSONPathError, query, type JSONValue } from 'json-p3';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export function parseJson(text: string): { readonly value: Json } | { readonly wrong: string } {
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')) as Json };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

/** Deeper than any honest document, shallower than the stack. */
const depthMax = 500;

/** The same value with the names of every object in order. */
export function ordered(value: Json, depth = 0): Json {
  if (value === null || typeof value !== 'object' || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((inner) => ordered(inner as Json, depth + 1));
  const object = value as { readonly [name: string]: Json };
  const sorted: Record<string, Json> = {};
  for (const name of Object.keys(object).sort()) {
    Object.defineProperty(sorted, name, {
      value: ordered(object[name], depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return sorted;
}

export function jsonLines(value: Json): string {
  return JSON.stringify(ordered(value), undefined, 2);
}

export function jsonPath(value: Json, expression: string): { readonly values: readonly Json[] } | { wrong: string } {
  try {
    return { values: query(expression, value as JSONValue).values() as readonly Json[] };
  } catch (error) {
    if (error instanceof JSONPathError) return { wrong: error.message };
    throw error;
  }
}
