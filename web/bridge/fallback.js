// @ts-check
import { failure } from "./errors.js";
import { served } from "./methods.js";
import { placeOf, URIMap } from "./uri-map.js";

/** @typedef {import("./types.js").TaskHandler} TaskHandler */

/** What the page does itself, by URI or pattern, where it runs outside of the app. */
export class Fallback {
  /** @type {URIMap<TaskHandler>} */ #handlers = new URIMap();

  #deputy;

  /**
   * @param {Record<string, TaskHandler>} entries by URI, pattern or scheme
   * @param {() => import("./types.js").Deputy} deputy
   */
  constructor(entries, deputy) {
    this.#deputy = deputy;
    for (const [key, handler] of Object.entries(entries)) {
      if (typeof handler !== "function") throw failure("invalidParams", `the fallback for ${key} needs a function`);
      this.#handlers.add({ ...placeOf(key), kind: "task" }, handler);
    }
  }

  /** @param {string} uri */
  has(uri) {
    return this.#handlers.find(uri) !== undefined;
  }

  /**
   * @param {string} uri
   * @param {import("./types.js").Params | undefined} params
   * @param {import("./types.js").InvokeOptions} options its timeout bounds no fallback: people take their time
   * @returns {{value: Promise<any>} | undefined}
   */
  run(uri, params, { exts = {}, signal = new AbortController().signal, onProgress }) {
    const found = this.#handlers.find(uri);
    if (found === undefined) return undefined;
    const call = { uri, exts, signal, progress: (/** @type {unknown} */ value) => onProgress?.(value), ...this.#deputy() };
    return { value: served(signal, () => found.handler({ ...found.params, ...params }, call)) };
  }
}

/**
 * What a page of the app would have told, from what the fallback did.
 * @param {unknown} data
 * @returns {import("./types.js").Outcome}
 */
export function finished(data) {
  return { outcome: "finished", code: 0, message: "", data: data ?? null };
}
