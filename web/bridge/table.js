// @ts-check

/** @typedef {{version: string, hash?: string}} TableStamp which route table it is: `hash` tells those of one version apart */

/** Compares the route table for which a page was made with the server's. */
export class TableWatch {
  #own;
  #changed;
  #last;

  /**
   * @param {TableStamp} own
   * @param {(table: TableStamp & {isCurrent: boolean}) => void} changed told when the server has another table than it had; at first, than
   *   that of the page
   */
  constructor(own, changed) {
    this.#own = own;
    this.#last = own;
    this.#changed = changed;
  }

  /** @param {TableStamp | undefined} told what the server says of its table */
  told(told) {
    if (told === undefined || isSame(told, this.#last)) return;
    this.#last = told;
    const { version, hash } = told;
    this.#changed({ version, hash, isCurrent: isSame(told, this.#own) });
  }
}

/**
 * @param {TableStamp} one
 * @param {TableStamp} other
 */
function isSame(one, other) {
  return one.hash === undefined || other.hash === undefined ? one.version === other.version : one.hash === other.hash;
}
