// @ts-check

/** A clock that stands still until a test moves it. @implements {ClockType} */
export class ManualClock {
  #now = 0;
  #last = 0;
  /** @type {Map<number, {at: number, body: () => void}>} */ #timers = new Map();
  /** What `random` gives. */
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

  /** How many timers are set. */
  get pending() {
    return this.#timers.size;
  }

  /**
   * Lets time pass: each timer that is due runs at its moment.
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
   * Lets time pass in which no timer runs, as while a computer sleeps: those that were due run at its end, each once.
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

/** @typedef {import("../bridge/clock.js").Clock} ClockType */
