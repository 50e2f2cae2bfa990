/** Which processes have been heard of lately; as many as there may be at once. */
const processesMax = 10_000;

export class Alive {
  /** The longest silent first. */
  readonly #heardMs = new Map<string, number>();

  heard(who: string, nowMs: number): void {
    this.#heardMs.delete(who);
    this.#heardMs.set(who, nowMs);
    if (this.#heardMs.size > processesMax) this.#heardMs.delete(this.#heardMs.keys().next().value!);
  }

  isSilent(who: string, nowMs: number, silenceMsMax: number): boolean {
    return nowMs - (this.#heardMs.get(who) ?? -Infinity) > silenceMsMax;
  }
}
