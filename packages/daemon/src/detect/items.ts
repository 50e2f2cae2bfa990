/**
 * Lists compare item by item: which are new, which changed, which are gone, whatever their order. An item is one line of
 * the projection, JSON with its names in order; its key is a field whose values tell all items apart, or else the whole.
 */
import { ordered, type Json } from './json.ts';

export type Item = { readonly [name: string]: Json };

export interface ItemDifference {
  readonly added: readonly Item[];
  readonly removed: readonly Item[];
  readonly changed: readonly { readonly from: Item; readonly to: Item; readonly fields: readonly string[] }[];
}

const usualKeys = ['id', 'guid', '_id', 'uuid', 'key', 'sku', 'slug', 'number', 'url', 'link', 'href', 'name', 'title'];

export function isItem(value: Json): value is Item {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function isItemList(value: Json): value is readonly Item[] {
  return Array.isArray(value) && value.length > 0 && (value as readonly Json[]).every(isItem);
}

export function itemLines(items: readonly Item[]): string {
  return items.map((item) => JSON.stringify(ordered(item))).join('\n');
}

/** A version from before the page became a list, such as an error in JSON or `[]`, holds no items. */
export function readItems(text: string): readonly Item[] {
  if (text === '') return [];
  try {
    const values = text.split('\n').map((line) => JSON.parse(line) as Json);
    return values.every(isItem) ? values : [];
  } catch {
    return [];
  }
}

/** The same list with some fields left out of every item. */
export function withoutFields(text: string, names: ReadonlySet<string>): string {
  if (names.size === 0) return text;
  const kept = (item: Item) => Object.fromEntries(Object.entries(item).filter(([name]) => !names.has(name)));
  return itemLines(readItems(text).map(kept));
}

/** A field by its name, or by dots through inner objects. */
export function fieldOf(item: Item, path: string): Json | undefined {
  let value: Json | undefined = item;
  for (const name of path.split('.')) {
    if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name) ? (value as Item)[name] : undefined;
  }
  return value;
}

const scalar = (value: Json | undefined) => typeof value === 'string' || typeof value === 'number';

/** The first usual key that every item has and no two share; undefined when there is none. */
export function keyOf(lists: readonly (readonly Item[])[]): string | undefined {
  return usualKeys.find((key) =>
    lists.every((items) => {
      const values = items.map((item) => fieldOf(item, key));
      return values.every(scalar) && new Set(values.map(String)).size === items.length;
    }),
  );
}

export function changedFields(from: Item, to: Item, ignored: ReadonlySet<string>): string[] {
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names]
    .filter((name) => !ignored.has(name) && JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .sort();
}

/** Items without a key of their own are told apart by what they say; two that say the same are counted. */
function keyed(items: readonly Item[], key: string | undefined, ignored: ReadonlySet<string>): Map<string, Item> {
  const map = new Map<string, Item>();
  for (const item of items) {
    const shown =
      ignored.size === 0 ? item : Object.fromEntries(Object.entries(item).filter(([name]) => !ignored.has(name)));
    const name = key === undefined ? JSON.stringify(shown) : JSON.stringify(fieldOf(item, key) ?? shown);
    let unique = name;
    for (let copy = 2; map.has(unique); copy++) unique = `${name} ${copy}`;
    map.set(unique, item);
  }
  return map;
}

export function itemDifference(
  from: readonly Item[],
  to: readonly Item[],
  key = keyOf([from, to]),
  ignored: ReadonlySet<string> = new Set(),
): ItemDifference {
  const before = keyed(from, key, ignored);
  const after = keyed(to, key, ignored);
  const added = [...after].filter(([name]) => !before.has(name)).map(([, item]) => item);
  const removed = [...before].filter(([name]) => !after.has(name)).map(([, item]) => item);
  const changed = [...after].flatMap(([name, item]) => {
    const old = before.get(name);
    const fields = old ? changedFields(old, item, ignored) : [];
    return old && fields.length > 0 ? [{ from: old, to: item, fields }] : [];
  });
  return { added, removed, changed };
}

/** What a person would call the item. */
export function nameOfItem(item: Item): string {
  const named = ['title', 'name', 'headline', 'subject', 'label', 'id', 'guid', 'url', 'link'].find((name) =>
    scalar(item[name]),
  );
  return named ? String(item[named] as string | number) : JSON.stringify(item).slice(0, 80);
}
