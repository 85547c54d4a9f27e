// @ts-check

/** @typedef {{version: string, hash?: string}} TableStamp identifies a route table; `hash` distinguishes tables with the same version */

/**
 * Compares the route table that a page was built for with the server's table.
 * @param {TableStamp} own
 * @param {(table: TableStamp & {isCurrent: boolean}) => void} changed called when the server's table differs from its previous table; at first,
 *   from the page's own table
 * @returns {(stamp: TableStamp | undefined) => void} to be called with the server's table
 */
export function watchTable(own, changed) {
  let last = own;
  return (stamp) => {
    if (stamp === undefined || isSame(stamp, last)) return;
    last = stamp;
    const { version, hash } = stamp;
    changed({ version, hash, isCurrent: isSame(stamp, own) });
  };
}

/**
 * @param {TableStamp} one
 * @param {TableStamp} other
 */
function isSame(one, other) {
  return one.hash === undefined || other.hash === undefined ? one.version === other.version : one.hash === other.hash;
}
