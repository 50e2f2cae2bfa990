/** A week by hours, seven rows of twenty-four cells; hours are in the reader's own zone, values come in UTC from Monday. */
const cell = 15;
const left = 30;
const top = 14;
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

interface Props {
  /** 168 values; undefined where nothing is known. */
  readonly values: readonly (number | undefined)[];
  readonly label: string;
  readonly tell: (value: number | undefined, hour: number) => string;
  readonly colour?: string;
}

export function WeekHeatmap({ values, label, tell, colour = 'var(--accent)' }: Props) {
  const shift = -Math.round(new Date().getTimezoneOffset() / 60);
  const most = Math.max(1e-12, ...values.map((value) => value ?? 0));
  const cells = Array.from({ length: 168 }, (_, hour) => {
    const value = values[(((hour - shift) % 168) + 168) % 168];
    return { hour, value, strength: value === undefined ? 0 : value / most };
  });
  return (
    <div class="week">
      <svg viewBox={`0 0 ${left + 24 * cell} ${top + 7 * cell}`} role="img" aria-label={label}>
        {[0, 6, 12, 18].map((hour) => (
          <text key={hour} x={left + hour * cell} y={10}>
            {hour}:00
          </text>
        ))}
        {days.map((day, i) => (
          <text key={day} x={0} y={top + i * cell + 11}>
            {day}
          </text>
        ))}
        {cells.map(({ hour, value, strength }) => (
          <rect
            key={hour}
            x={left + (hour % 24) * cell}
            y={top + Math.floor(hour / 24) * cell}
            width={cell - 1}
            height={cell - 1}
            fill={value === undefined ? 'var(--raised)' : colour}
            fill-opacity={value === undefined ? 1 : 0.07 + 0.93 * strength}
          >
            <title>{`${days[Math.floor(hour / 24)]} ${hour % 24}:00: ${tell(value, hour)}`}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}
