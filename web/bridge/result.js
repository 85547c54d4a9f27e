// @ts-check

/**
 * What a page that closes hands to its opener, as `navigation.back` and `navigation.finish` have it; nothing when there is
 * nothing to hand.
 * @param {unknown} data
 * @param {number} [code]
 * @param {string} [message]
 */
export function wireResult(data, code, message) {
  return data === undefined && code === undefined && message === undefined ? undefined : { data, code, message };
}
