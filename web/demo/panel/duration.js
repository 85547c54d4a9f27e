// @ts-check

/**
 * A time in the unit that fits it.
 * @param {number} milliseconds
 */
export function duration(milliseconds) {
  return milliseconds < 1000 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(milliseconds < 10000 ? 1 : 0)} s`;
}
