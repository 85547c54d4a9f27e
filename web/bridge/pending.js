// @ts-check
import { failure } from "./errors.js";

/** @typedef {import("./calling.js").Asked} Asked */
/** @typedef {import("./types.js").PendingCall} PendingCall */

/** The calls of the page before it was loaded again. */
export class Pending {
  /** @type {PendingCall[]} */ #calls = [];

  /** All of them, those included whose answer has come since. */
  get all() {
    return [...this.#calls];
  }

  /**
   * @param {Asked} asked
   * @param {Promise<any>} result
   */
  add({ id, method, uri, key }, result) {
    // A page need not ask for it.
    result.catch(() => {});
    this.#calls.push({ id, method, uri, key, result });
  }

  /**
   * The result of the one with that key.
   * @param {string} key
   * @returns {Promise<any>}
   */
  async recover(key) {
    const found = this.#calls.find((call) => call.key === key);
    if (found !== undefined) return found.result;
    const advice = "the same call with this key gives its result, where the session still has it";
    throw failure("outcomeUnknown", `nothing is known of a call with the key ${JSON.stringify(key)}: ${advice}`);
  }
}
