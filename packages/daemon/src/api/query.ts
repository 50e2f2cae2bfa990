/** A whole number from a query string, its default when absent, undefined when it is none or out of range. */
export function limitOf(text: string | undefined, otherwise: number, most: number): number | undefined {
  if (text === undefined) return otherwise;
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= most ? number : undefined;
}

/** A cursor of the log of changes; undefined when the text is none. */
export function cursorOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
