// @ts-check
import { failure } from "../values/errors.js";

/** The longest delay in milliseconds: `setTimeout` cannot wait longer, and would fire at once instead. */
export const MAX_DELAY = 0x7fffffff;

/**
 * The delay before each attempt to connect. It doubles each time, and is random so that clients do not reconnect at the same time.
 * @param {import("../types/api.js").ReconnectOptions} options
 * @param {Pick<import("./clock.js").Clock, "random">} clock
 */
export function backoff({ minDelay = 500, maxDelay = 30000, attempts = Infinity }, clock) {
  check("minDelay", minDelay, 1, maxDelay);
  check("maxDelay", maxDelay, minDelay, MAX_DELAY);
  if (attempts !== Infinity) check("attempts", attempts);
  return {
    attempts,
    /**
     * Returns the delay in milliseconds: between half of the full delay and all of it.
     * @param {number} failures number of consecutive failures before the last one
     */
    delay: (failures) => Math.round(Math.min(maxDelay, minDelay * 2 ** failures) * (0.5 + clock.random() / 2)),
  };
}

/**
 * Returns the milliseconds that the server requires before another attempt.
 * @param {any} error
 */
export function retryAfter(error) {
  return Math.min(Number(error?.data?.retryAfterMs) || 0, MAX_DELAY);
}

/**
 * Throws if an option is not an integer in the range.
 * @param {string} name
 * @param {any} value
 * @param {number} [least]
 * @param {number} [most]
 */
export function check(name, value, least = 1, most = Infinity) {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw failure("invalidParams", `${name} cannot be ${String(value)}${globalThis.__waybridgeBrief ? "" : `; it must be an integer from ${least} to ${most}`}`);
}
