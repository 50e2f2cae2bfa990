/** What is known to differ without meaning anything. */
export interface NoiseState {
  readonly parts: readonly unknown[];
}
export const emptyNoise: NoiseState = { parts: [] };
