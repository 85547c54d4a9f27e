// @ts-check
import { failure } from "./errors.js";

/** How long to wait before each try: twice as long each time, and never the same for all clients of a server. */
export class Backoff {
  #clock;

  /**
   * @param {import("./types.js").ReconnectOptions} options
   * @param {Pick<import("./clock.js").Clock, "random">} clock
   */
  constructor({ minDelay = 500, maxDelay = 30000, attempts = Infinity }, clock) {
    check("minDelay", minDelay, 1, maxDelay);
    check("maxDelay", maxDelay, minDelay, 0x7fffffff);
    if (attempts !== Infinity) check("attempts", attempts);
    this.minDelay = minDelay;
    this.maxDelay = maxDelay;
    this.attempts = attempts;
    this.#clock = clock;
  }

  /**
   * Milliseconds, from half of the full delay to all of it.
   * @param {number} failures how many there were in a row before the last
   */
  delay(failures) {
    return Math.round(Math.min(this.maxDelay, this.minDelay * 2 ** failures) * (0.5 + this.#clock.random() / 2));
  }
}

/**
 * Refuses an option that is no whole number of the range.
 * @param {string} name
 * @param {unknown} value
 * @param {number} [least]
 * @param {number} [most]
 */
export function check(name, value, least = 1, most = Infinity) {
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return;
  throw failure("invalidParams", `${name} is ${String(value)}${globalThis.__waybridgeBrief ? "" : `; give a whole number from ${least} to ${most}`}`);
}
