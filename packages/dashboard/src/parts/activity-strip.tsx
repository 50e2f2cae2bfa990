/** The last looks as a strip, oldest left: tall where something changed, low where nothing did, hollow where it failed. */
const colours: Readonly<Record<string, string>> = {
  c: 'var(--accent)',
  f: 'var(--accent)',
  g: 'var(--removed)',
  u: 'var(--bar)',
};
const width = 96;
const height = 20;

export function ActivityStrip({ activity }: { readonly activity: string }) {
  const looks = activity.split('');
  const step = width / 32;
  const changed = looks.filter((letter) => letter === 'c').length;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={
        looks.length === 0 ? 'not looked at yet' : `${changed} of the last ${looks.length} looks found a change`
      }
    >
      {looks.map((letter, i) => {
        const tall = letter === 'c' || letter === 'f' || letter === 'g';
        const size = tall ? height : letter === 'u' ? 5 : 10;
        return (
          <rect
            key={i}
            x={width - (looks.length - i) * step}
            y={height - size}
            width={step - 1}
            height={size}
            fill={colours[letter] ?? 'var(--trouble)'}
          />
        );
      })}
    </svg>
  );
}
