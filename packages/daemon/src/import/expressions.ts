/** Regular expressions and plain words of other tools in the form our options take. */

/** Whatever stands there as a word: a number as its digits, a list or an object as nothing. */
export const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Python's form into JavaScript's: named groups, leading flags; undefined where no form exists. */
export function fromPython(pattern: string): string | undefined {
  let source = pattern
    .replaceAll('(?P<', '(?<')
    .replace(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replaceAll('\\Z', '$')
    .replaceAll('\\A', '^');
  let flags = '';
  const leading = /^\(\?([aiLmsux]+)\)/.exec(source);
  if (leading) {
    if (leading[1]!.includes('x')) return undefined;
    source = source.slice(leading[0].length);
    flags = leading[1]!.replace(/[^ims]/g, '');
  }
  try {
    new RegExp(source, flags);
  } catch {
    return undefined;
  }
  return flags === '' ? source : `/${source}/${flags}`;
}

/** Python writes groups in replacements as \1 or \g<name>. */
export const replacementFromPython = (text: string): string =>
  text
    .replaceAll('$', '$$$$')
    .replace(/\\(\d)/g, '$$$1')
    .replace(/\\g<(\w+)>/g, (_, name: string) => (/^\d+$/.test(name) ? `$${name}` : `$<${name}>`));

/** A line that does not match: what a tool that keeps matching lines leaves out. */
export function linesWithout(pattern: string): string {
  const slashed = /^\/(.*)\/([ims]*)$/s.exec(pattern);
  const source = `^(?!.*(?:${slashed ? slashed[1] : pattern}))`;
  return slashed && slashed[2] ? `/${source}/${slashed[2]}` : source;
}
