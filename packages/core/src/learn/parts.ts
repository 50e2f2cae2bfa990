/** Parts of what is believed that can be left out, to measure what each is worth. */
export interface Parts {
  readonly memory?: boolean;
  readonly week?: boolean;
  readonly siblings?: boolean;
  readonly activity?: boolean;
  readonly rhythm?: boolean;
  /** Without it a rate is taken at its posterior's median, not at its mean, which is larger the less is known. */
  readonly exploration?: boolean;
}

export const allParts: Required<Parts> = {
  memory: true,
  week: true,
  siblings: true,
  activity: true,
  rhythm: true,
  exploration: true,
};
