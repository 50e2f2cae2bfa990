interface Props {
  readonly part: number;
  readonly whole: number;
  readonly label: string;
  /** Full is how it should be. */
  readonly calm?: boolean;
}

export function Gauge({ part, whole, label, calm = false }: Props) {
  const share = whole > 0 ? Math.min(1, part / whole) : 0;
  return (
    <svg
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      width="100%"
      height="5"
      role="img"
      aria-label={`${label}: ${part} of ${whole}`}
    >
      <rect width="100" height="4" fill="var(--line)" />
      <rect width={100 * share} height="4" fill={share > 0.9 && !calm ? 'var(--removed)' : 'var(--accent)'} />
    </svg>
  );
}
