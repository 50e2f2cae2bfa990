import { percent } from '../format.ts';

/** The chance that our copy is current. */
export function CurrentMeter({ current }: { readonly current: number | null }) {
  if (current === null) return <span class="soft">–</span>;
  return (
    <span class="meter">
      <span>{percent(current)}</span>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="4" fill="var(--line)" />
        <rect width={100 * current} height="4" fill="var(--accent)" />
      </svg>
    </span>
  );
}
