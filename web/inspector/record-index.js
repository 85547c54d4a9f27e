// @ts-check

/** @typedef {import("./records.js").Call} Call */
/** @typedef {import("./records.js").InspectorRecord} InspectorRecord */

/** An index of records by their subject. Messages and results are not part of the key. */
export class RecordIndex {
  /** @type {Map<string, any[]>} */
  #byKey = new Map();

  /**
   * @param {InspectorRecord} record
   * @param {Call | InspectorRecord} value its call or record
   */
  add(record, value) {
    const key = RecordIndex.#key(record);
    const values = this.#byKey.get(key);
    if (values) values.push(value);
    else this.#byKey.set(key, [value]);
  }

  /**
   * @param {InspectorRecord} record
   * @returns {any} the value of an equal record, which is removed
   */
  consume(record) {
    if (this.#byKey.size === 0) return undefined;
    return this.#byKey.get(RecordIndex.#key(record))?.shift();
  }

  /** @param {InspectorRecord} record */
  static #key({ type, event, at, session, client, id, method, call, page, names }) {
    // The first record of a call may not have its page.
    return JSON.stringify([type, event, at, session, client, id, method, call, type === "page" && page, names]);
  }
}
