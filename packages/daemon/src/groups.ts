/**
 * Dense numbers for keys that are never read back: folders and name stems. Only a hash of 53 bits is kept of a key, so a
 * million of them take 24 megabytes instead of a hundred. Two keys that meet in one hash (one chance in a thousand
 * for four million keys) are one group, which costs a little learning and nothing else.
 */
export class Groups {
  #keys = new Float64Array(1024).fill(-1);
  #numbers = new Int32Array(1024);
  #size = 0;

  number(key: string): number {
    const hash = hash53(key);
    let slot = this.#slotOf(hash);
    if (this.#keys[slot] === hash) return this.#numbers[slot]!;
    if (2 * this.#size >= this.#keys.length) {
      this.#grow();
      slot = this.#slotOf(hash);
    }
    this.#keys[slot] = hash;
    this.#numbers[slot] = this.#size;
    return this.#size++;
  }

  #slotOf(hash: number): number {
    const mask = this.#keys.length - 1;
    let slot = hash & mask;
    while (this.#keys[slot] !== -1 && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, numbers] = [this.#keys, this.#numbers];
    this.#keys = new Float64Array(2 * keys.length).fill(-1);
    this.#numbers = new Int32Array(2 * keys.length);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === -1) continue;
      const slot = this.#slotOf(keys[i]!);
      this.#keys[slot] = keys[i]!;
      this.#numbers[slot] = numbers[i]!;
    }
  }
}

/** Two multiplicative hashes of 32 bits, of which 53 are kept. */
function hash53(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}
