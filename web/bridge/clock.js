// @ts-check

/**
 * Time and chance, so that tests can hand in their own.
 * @typedef {object} Clock
 * @property {(body: () => void, milliseconds: number) => unknown} setTimeout
 * @property {(timer: any) => void} clearTimeout
 * @property {() => number} now milliseconds since some moment; never goes back
 * @property {() => number} random from 0 to less than 1
 */

/** @type {Clock} */
export const platformClock = {
  setTimeout: (body, milliseconds) => setTimeout(body, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer),
  now: () => performance.now(),
  random: () => Math.random(),
};
