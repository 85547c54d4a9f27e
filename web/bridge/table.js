// @ts-check

/** @typedef {{version: string, hash?: string}} TableStamp which route table it is: `hash` tells those of one version apart */

/**
 * Compares the route table for which a page was made with the server's.
 * @param {TableStamp} own
 * @param {(table: TableStamp & {isCurrent: boolean}) => void} changed told when the server has another table than it had; at first, than
 *   that of the page
 * @returns {(told: TableStamp | undefined) => void} takes what the server says of its table
 */
export function watchTable(own, changed) {
  let last = own;
  return (told) => {
    if (told === undefined || isSame(told, last)) return;
    last = told;
    const { version, hash } = told;
    changed({ version, hash, isCurrent: isSame(told, own) });
  };
}

/**
 * @param {TableStamp} one
 * @param {TableStamp} other
 */
function isSame(one, other) {
  return one.hash === undefined || other.hash === undefined ? one.version === other.version : one.hash === other.hash;
}
