/** A plain table for terminals: columns as wide as they need, no frames, nothing that a script could trip over. */

/** What a page says never moves the cursor, rings the bell or turns the writing round. */
export function harmless(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\u00b7');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(harmless));
  const widths = head.map((title, i) => Math.max(title.length, ...clean.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd();
  return [line(head), ...clean.map(line)].join('\n');
}
