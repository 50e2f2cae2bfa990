/** A cursor of the log of changes; undefined when the text is none. */
export function cursorOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  const number = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}
