/** The number a person reads in a text such as "€ 1.234,50" or "1,234.50 USD". */

const written = /[-−+]?(?:\d{1,3}(?:[ \u00a0\u202f'’.,]\d{3})+|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?/u;

export function numberIn(text: string): number | undefined {
  const found = written.exec(text);
  if (!found) return undefined;
  let digits = found[0].replace(/[ \u00a0\u202f'’]/gu, '').replace('−', '-');
  const comma = digits.lastIndexOf(',');
  const point = digits.lastIndexOf('.');
  if (comma >= 0 && point >= 0) {
    // Both are there: the one that comes last marks the decimals.
    const decimal = comma > point ? ',' : '.';
    digits = digits.replaceAll(decimal === ',' ? '.' : ',', '').replace(decimal, '.');
  } else if (comma >= 0 || point >= 0) {
    const mark = comma >= 0 ? ',' : '.';
    const parts = digits.split(mark);
    // 1,234,567 and 1,234 group by thousands; 1.234 is read the same only when it repeats or is written with a comma.
    const grouped =
      parts.length > 2 || (mark === ',' && parts[1].length === 3 && parts[0].replace(/^[-+]/, '') !== '0');
    digits = grouped ? parts.join('') : digits.replace(mark, '.');
  }
  const value = Number(digits);
  return Number.isFinite(value) ? value : undefined;
}

export function percentBetween(from: number, to: number): number {
  return from === 0 ? (to === 0 ? 0 : Infinity) : (Math.abs(to - from) / Math.abs(from)) * 100;
}
