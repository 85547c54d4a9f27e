// @ts-check

/** @typedef {import("./records.js").Call} Call */
/** @typedef {import("./records.js").WatchRecord} WatchRecord */

/** What was told, to be found by what it is about. What is said in messages, and how it ended, is no part of that. */
export class Told {
  /** @type {Map<string, any[]>} */
  #byKey = new Map();

  /**
   * @param {WatchRecord} record
   * @param {Call | WatchRecord} value what it has become
   */
  add(record, value) {
    const key = Told.#key(record);
    const values = this.#byKey.get(key);
    if (values) values.push(value);
    else this.#byKey.set(key, [value]);
  }

  /**
   * @param {WatchRecord} record
   * @returns {any} what such a one has become; once each
   */
  take(record) {
    if (this.#byKey.size === 0) return undefined;
    return this.#byKey.get(Told.#key(record))?.shift();
  }

  /** @param {WatchRecord} record */
  static #key({ type, event, at, session, client, id, method, call, page, names }) {
    // A call has its page only once that is known.
    return JSON.stringify([type, event, at, session, client, id, method, call, type === "page" && page, names]);
  }
}
