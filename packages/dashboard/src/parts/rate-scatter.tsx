import type { DemoRate } from '../demo.ts';
import { address } from '../route.ts';

/** Changes a day at the edges of the picture, and its size. */
const [low, high] = [0.01, 100];
const [width, height, edge] = [420, 300, 34];
const ticks = [0.01, 0.1, 1, 10, 100];

const share = (rate: number): number => Math.log(Math.min(high, Math.max(low, rate)) / low) / Math.log(high / low);
const across = (rate: number): number => edge + share(rate) * (width - edge - 14);
const up = (rate: number): number => height - edge - share(rate) * (height - edge - 8);

/** True rates across, learned ones upwards, both by powers of ten. */
export function RateScatter({ rates }: { readonly rates: readonly DemoRate[] }) {
  return (
    <svg
      class="rate-scatter"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label="Learned against true changes a day, one dot a page"
    >
      {ticks.map((rate) => (
        <g key={rate} class="grid">
          <line x1={across(rate)} x2={across(rate)} y1={up(low)} y2={up(high)} />
          <line x1={across(low)} x2={across(high)} y1={up(rate)} y2={up(rate)} />
          <text x={across(rate)} y={height - edge + 14} text-anchor="middle">
            {rate}
          </text>
          <text x={edge - 4} y={up(rate) + 3} text-anchor="end">
            {rate}
          </text>
        </g>
      ))}
      <line class="same" x1={across(low)} y1={up(low)} x2={across(high)} y2={up(high)} />
      {rates.map(
        ({ id, url, trueRatePerDay, learnedRatePerDay }) =>
          learnedRatePerDay !== null && (
            <a key={id} href={address(['pages', id])} tabIndex={-1}>
              <circle cx={across(trueRatePerDay)} cy={up(learnedRatePerDay)} r="2.5">
                <title>{`${url}: ${trueRatePerDay.toFixed(2)} true, ${learnedRatePerDay.toFixed(2)} learned`}</title>
              </circle>
            </a>
          ),
      )}
      <text x={(width + edge) / 2} y={height - 4} text-anchor="middle">
        true changes a day
      </text>
      <text transform={`translate(9 ${(height - edge) / 2}) rotate(-90)`} text-anchor="middle">
        learned
      </text>
    </svg>
  );
}
