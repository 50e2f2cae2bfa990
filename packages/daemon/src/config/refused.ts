/** What is wrong about a setting, in one sentence: its field, the value that was given, and what is allowed. */

/** More of a value helps nobody to find it. */
const charactersMax = 80;

interface Refused {
  readonly kind: 'wrong';
  readonly sentence: string;
}

export function refused(field: string, value: unknown, allowed: string): Refused {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  const shown = text.length > charactersMax ? `${text.slice(0, charactersMax - 3)}...` : text;
  return refusedUnseen(field, shown, allowed);
}

/** For what is not to be repeated, as it may be a secret: in its place stands what it is called. */
export function refusedUnseen(field: string, called: string, allowed: string): Refused {
  return { kind: 'wrong', sentence: `${field}: ${called} is not allowed; ${allowed}` };
}
