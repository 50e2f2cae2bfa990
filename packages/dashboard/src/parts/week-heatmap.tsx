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

/** The hour of the week in UTC that the reader's own hour of the week is. */
function utcHour(hour: number): number {
  const shift = -Math.round(new Date().getTimezoneOffset() / 60);
  return (((hour - shift) % 168) + 168) % 168;
}

export function WeekHeatmap({ values, label, tell, colour = 'var(--accent)' }: Props) {
  const known = values.filter((value) => value !== undefined);
  const most = Math.max(1e-12, ...known);
  const cells = Array.from({ length: 168 }, (_, hour) => {
    const utc = utcHour(hour);
    const value = values[utc];
    return { hour, utc, value, strength: value === undefined ? 0 : value / most };
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
        {cells.map(({ hour, utc, value, strength }) => (
          <rect
            key={hour}
            x={left + (hour % 24) * cell}
            y={top + Math.floor(hour / 24) * cell}
            width={cell - 1}
            height={cell - 1}
            rx={2}
            fill={value ? colour : 'var(--raised)'}
            fill-opacity={value ? 0.12 + 0.88 * strength : 1}
            {...(value === undefined ? {} : { stroke: 'var(--line)', 'stroke-width': 0.75 })}
          >
            <title>{`${days[Math.floor(hour / 24)]} ${hour % 24}:00: ${tell(value, utc)}`}</title>
          </rect>
        ))}
      </svg>
      {known.length > 0 && (
        <div class="scale soft small" aria-hidden="true">
          <span>{tell(Math.min(...known), -1)}</span>
          <svg viewBox="0 0 60 8" width="60" height="8">
            {[0, 0.25, 0.5, 0.75, 1].map((part, i) => (
              <rect key={i} x={i * 12} width="11" height="8" rx="2" fill={colour} fill-opacity={0.12 + 0.88 * part} />
            ))}
          </svg>
          <span>{tell(most, -1)}</span>
        </div>
      )}
    </div>
  );
}
