// @ts-check
import { closeCodes } from "./codes.js";
import { failure } from "./errors.js";

/** @typedef {"none" | "reopen" | "resume"} Next what follows a close: the end, a pause, or a new connection at once */

/** @type {Map<number, Next>} */
const registered = new Map(Object.values(closeCodes).map(({ code, next }) => [code, /** @type {Next} */ (next)]));

/**
 * What follows a connection that closed with this code.
 * @param {number} code
 * @returns {Next}
 */
export function nextAfter(code) {
  const known = registered.get(code);
  if (known !== undefined) return known;
  if (code >= 4000 && code < 4100) return "none";
  return code >= 4200 && code < 4300 ? "resume" : "reopen";
}

/** How long to wait before each try: twice as long each time, and never the same for all clients of a server. */
export class Backoff {
  /**
   * @param {import("./types.js").ReconnectOptions} options
   * @param {() => number} random
   */
  constructor({ minDelay = 500, maxDelay = 30000, attempts = Infinity }, random) {
    check("minDelay", minDelay, 1, maxDelay);
    check("maxDelay", maxDelay, minDelay, 0x7fffffff);
    if (attempts !== Infinity) check("attempts", attempts, 1, Number.MAX_SAFE_INTEGER);
    this.minDelay = minDelay;
    this.maxDelay = maxDelay;
    this.attempts = attempts;
    this.random = random;
  }

  /**
   * Milliseconds, from half of the full delay to all of it.
   * @param {number} failures how many there were in a row before the last
   */
  delay(failures) {
    const full = Math.min(this.maxDelay, this.minDelay * 2 ** failures);
    return Math.round(full * (0.5 + this.random() / 2));
  }
}

/**
 * Refuses an option that is no whole number of the range.
 * @param {string} name
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 */
export function check(name, value, least, most) {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return;
  throw failure("invalidParams", `${name} is ${String(value)}; give a whole number from ${least} to ${most}`);
}
