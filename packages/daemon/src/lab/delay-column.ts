/** Mean delays of one table, in a unit in which they can be read. */
export interface DelayColumn {
  readonly unit: 'h' | 's';
  readonly shown: (hours: number) => string;
}

/** Hours below this are mostly zeros. */
const hoursMin = 0.01;

/** Hours, or seconds where no delay is long enough for them: all rows in one unit, so that they can be compared. */
export function delayColumn(hours: readonly number[]): DelayColumn {
  const [unit, factor] = Math.max(...hours) < hoursMin ? (['s', 3600] as const) : (['h', 1] as const);
  return { unit, shown: (one) => digits(factor * one) };
}

function digits(value: number): string {
  return value >= hoursMin || value === 0 ? value.toPrecision(4) : String(Number(value.toPrecision(2)));
}
