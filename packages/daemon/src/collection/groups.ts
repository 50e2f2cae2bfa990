/**
 * Dense numbers for keys that are never read back: folders and name stems. Only a hash of 53 bits is kept of a key, so a
 * million of them take 20 megabytes instead of a hundred. Two keys that meet in one hash (one chance in a thousand
 * for four million keys) are one group, which costs a little learning and nothing else. Numbers are a process's own, hashes are
 * the same in the next one.
 */
import type { GroupKeys } from '@revisit/core';

const empty = -1;

export class Groups implements GroupKeys {
  /** The hash of each group. */
  #keys = new Float64Array(512);
  /** Groups in the places of their hashes, twice as many places as groups at least. */
  #slots = new Int32Array(1024).fill(empty);
  #size = 0;

  number(name: string): number {
    const key = hash53(name);
    let slot = this.#slotOf(key);
    if (this.#slots[slot] !== empty) return this.#slots[slot]!;
    if (this.#size === this.#keys.length) {
      this.#grow();
      slot = this.#slotOf(key);
    }
    this.#keys[this.#size] = key;
    this.#slots[slot] = this.#size;
    return this.#size++;
  }

  keyOf(group: number): number {
    return this.#keys[group]!;
  }

  groupOf(key: number): number | undefined {
    const group = this.#slots[this.#slotOf(key)]!;
    return group === empty ? undefined : group;
  }

  /** Where the key is, or would be. */
  #slotOf(key: number): number {
    const mask = this.#slots.length - 1;
    let slot = key & mask;
    while (this.#slots[slot] !== empty && this.#keys[this.#slots[slot]!] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = new Float64Array(2 * this.#keys.length);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#slots = new Int32Array(2 * keys.length).fill(empty);
    for (let group = 0; group < this.#size; group++) this.#slots[this.#slotOf(keys[group]!)] = group;
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
