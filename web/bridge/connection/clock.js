// @ts-check

/**
 * Timers, time and random numbers, which tests can replace.
 * @typedef {object} Clock
 * @property {(body: () => void, milliseconds: number) => unknown} setTimeout
 * @property {(timer: any) => void} clearTimeout
 * @property {() => number} now milliseconds since a fixed point in time; never decreases
 * @property {() => number} random at least 0 and less than 1
 */

/** @type {Clock} */
export const platformClock = {
  setTimeout: (body, milliseconds) => setTimeout(body, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer),
  now: () => performance.now(),
  random: () => Math.random(),
};
