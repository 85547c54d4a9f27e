// @ts-check

/** A clock that stands still until a test advances it. @implements {ClockType} */
export class ManualClock {
  #now = 0;
  #last = 0;
  /** @type {Map<number, {at: number, body: () => void}>} */ #timers = new Map();
  /** The value of `random`. */
  chance = 1;

  now = () => this.#now;

  random = () => this.chance;

  /**
   * @param {() => void} body
   * @param {number} milliseconds
   */
  setTimeout = (body, milliseconds) => {
    this.#last += 1;
    this.#timers.set(this.#last, { at: this.#now + milliseconds, body });
    return this.#last;
  };

  /** @param {any} timer */
  clearTimeout = (timer) => void this.#timers.delete(timer);

  /** The number of timers. */
  get pending() {
    return this.#timers.size;
  }

  /**
   * Advances the time: each timer that is due runs at its time.
   * @param {number} milliseconds
   */
  advance(milliseconds) {
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
      if (next === undefined) break;
      const [timer, { at, body }] = next;
      this.#timers.delete(timer);
      this.#now = at;
      body();
    }
    this.#now = end;
  }

  /**
   * Advances the time without timers, as while a computer sleeps. Timers that were due then run once, at the end.
   * @param {number} milliseconds
   */
  sleep(milliseconds) {
    this.#now += milliseconds;
    const due = [...this.#timers].filter(([, { at }]) => at <= this.#now);
    for (const [timer, { body }] of due) {
      this.#timers.delete(timer);
      body();
    }
  }
}

/** @typedef {import("../bridge/connection/clock.js").Clock} ClockType */
