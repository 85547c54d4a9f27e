/** Random numbers that depend only on a seed. */
export class Random {
  #state = 0x9e3779b9;

  /** @param {...(number | string)} seeds values from which the sequence is derived */
  constructor(...seeds) {
    for (const seed of seeds) {
      for (const unit of typeof seed === "string" ? [...seed].map((one) => one.charCodeAt(0)) : [seed]) {
        this.#state = Math.imul(this.#state ^ unit, 0x85ebca6b);
        this.#state ^= this.#state >>> 13;
      }
    }
  }

  /** At least 0 and less than 1 (mulberry32). */
  fraction() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer of at least 0 and less than `count`. */
  below(count) {
    return Math.floor(this.fraction() * count);
  }

  chance(probability) {
    return this.fraction() < probability;
  }

  /** One of the elements; undefined if there is none. */
  pick(elements) {
    return elements[this.below(elements.length)];
  }

  /** One of the values of `[weight, value]` pairs. */
  weighted(pairs) {
    let left = this.fraction() * pairs.reduce((sum, [weight]) => sum + weight, 0);
    return (pairs.find(([weight]) => (left -= weight) < 0) ?? pairs[0])[1];
  }
}
